/// A fixture as text: the file block by block, and what a decoder must find in it.
///
/// A recipe is compiled to bytes without any decoder. Its statements are listed in
/// `Fixtures/README.md`; a GIF starts with `gif GIF89a`, a PNG with `png`.
///
///     about One red pixel.
///     gif GIF89a
///     screen 1 1 palette=rg
///     image 0 0 1 1
///       |r|
///     trailer
///     expect frames 1
///     expect frame 0
///       |r|
package struct Recipe: Sendable, Hashable {
  /// Its folder and name, without the suffix: `GIF/dispose-keep`.
  package let name: String
  /// What it is for.
  package let about: String
  /// What other decoders do with it; empty if nothing is known.
  package let others: String
  /// The file.
  package let bytes: [UInt8]
  /// What a decoder must make of it.
  package let expectations: FixtureExpectations
  /// Whether the file is a GIF.
  package let isGIF: Bool

  /// Compiles the text of a recipe.
  package init(name: String, text: String) throws(RecipeError) {
    var compiler = RecipeCompiler()
    try compiler.run(try RecipeStatement.parse(text))
    guard !compiler.about.isEmpty else { throw RecipeError(1, "`about` is missing") }
    self.name = name
    about = compiler.about.joined(separator: " ")
    others = compiler.others.joined(separator: " ")
    bytes = compiler.bytes
    expectations = compiler.expectations
    isGIF = compiler.gif != nil
  }

  /// The path of the compiled file in the fixtures folder: `GIF/dispose-keep.gif`.
  package var outputPath: String { name + (isGIF ? ".gif" : ".png") }
}

extension Recipe: CustomStringConvertible {
  /// Its name.
  package var description: String { name }
}
