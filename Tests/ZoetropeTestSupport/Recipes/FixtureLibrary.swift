internal import Glibc

/// The fixtures of this package: their recipes and compiled files.
///
/// They are in the folder that `ZOETROPE_FIXTURES` names, otherwise in `Fixtures` beside the
/// sources.
package struct FixtureLibrary: Sendable {
  /// The folder, without a slash at the end.
  package let root: String

  /// The fixtures in `root`; nil for the folder described above.
  package init(root: String? = nil) { self.root = root ?? Self.defaultRoot }

  private static var defaultRoot: String {
    if let value = unsafe getenv("ZOETROPE_FIXTURES") {
      // getenv returns a string that ends with a zero byte; it is copied at once.
      return unsafe String(cString: value)
    }
    // ROOT/Tests/ZoetropeTestSupport/Recipes/FixtureLibrary.swift
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    return parts.dropLast(4).joined(separator: "/") + "/Fixtures"
  }

  /// The folders with recipes, below `Recipes`, and with files, below the root.
  package static let folders = ["Demo", "GIF", "APNG", "Bad"]

  /// The names of all recipes, sorted: `APNG/blend-over` and so on.
  package func recipeNames() throws(FixtureFileError) -> [String] {
    var names: [String] = []
    for folder in Self.folders {
      for file in try FixtureFile.list("\(root)/Recipes/\(folder)")
      where file.hasSuffix(".recipe") {
        names.append("\(folder)/\(file.dropLast(7))")
      }
    }
    return names.sorted()
  }

  /// The recipe of this name, compiled.
  package func recipe(_ name: String) throws -> Recipe {
    let bytes = try FixtureFile.read("\(root)/Recipes/\(name).recipe")
    return try Recipe(name: name, text: String(decoding: bytes, as: UTF8.self))
  }

  /// Every recipe, compiled, sorted by name.
  package func recipes() throws -> [Recipe] { try recipeNames().map { try recipe($0) } }

  /// The bytes of a compiled file, such as `GIF/dispose-keep.gif`.
  package func file(_ path: String) throws(FixtureFileError) -> [UInt8] {
    try FixtureFile.read("\(root)/\(path)")
  }
}
