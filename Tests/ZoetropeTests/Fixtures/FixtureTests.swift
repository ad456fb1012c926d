import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes) struct FixtureTests {
  private static let compiled = Result { try FixtureLibrary().recipes() }

  /// Compiled once for the tests of all suites; empty when a recipe cannot be compiled, which the
  /// first test reports.
  static let recipes = (try? compiled.get()) ?? []

  @Test func `every recipe compiles`() throws {
    let recipes = try Self.compiled.get()
    #expect(recipes.count > 250)
    #expect(Set(recipes.map(\.name)).count == recipes.count)
  }

  @Test(arguments: recipes)
  func `the committed file is what its recipe makes`(recipe: Recipe) throws {
    let bytes = try FixtureLibrary().file(recipe.outputPath)
    #expect(bytes == recipe.bytes)
  }

  @Test(arguments: recipes)
  func `a fixture opens as its recipe states`(recipe: Recipe) {
    let mismatches = FixtureCheck(recipe).mismatches
    #expect(mismatches == [])
  }

  @Test(arguments: recipes)
  func `the reference decoder opens a valid fixture as its recipe states`(recipe: Recipe) {
    // For damaged data the two may differ; see `referenceDiffers`.
    guard recipe.expectations.isClean else { return }
    let check = FixtureCheck(recipe, options: DecodingOptions(decoder: .reference))
    #expect(check.mismatches == [])
  }

  /// Faults that giflib and libpng treat differently from the fast decoders, and why.
  static let referenceDiffers: [String: String] = [
    "Bad/gif-cut-in-frame-0": "giflib does not say how much of a row it wrote before the end",
    "Bad/lzw-bad-code": "giflib takes a code past the next free one for the next one",
    "Bad/lzw-bad-code-in-table": "giflib takes a code past the next free one for the next one",
  ]

  @Test(arguments: recipes.filter { $0.expectations.errorCode == nil })
  func `both decoders give the same frames, except for the listed faults`(recipe: Recipe) throws {
    guard Self.referenceDiffers[recipe.name] == nil else { return }
    let pictures = try [PixelDecoder.fast, .reference].map { decoder in
      var pictures: [Bitmap] = []
      let image = try AnimatedImage(
        bytes: recipe.bytes, options: DecodingOptions(decoder: decoder))
      let reader = FrameReader(image)
      while let frame = try reader.next() { pictures.append(frame.bitmap) }
      return pictures
    }
    #expect(pictures[0] == pictures[1])
  }

  @Test(arguments: recipes.filter { referenceDiffers[$0.name] != nil })
  func `the listed faults cost the same frames with both decoders`(recipe: Recipe) throws {
    let images = try [PixelDecoder.fast, .reference].map {
      try AnimatedImage(bytes: recipe.bytes, options: DecodingOptions(decoder: $0))
    }
    #expect(images[0].frames == images[1].frames && images[0].damage == images[1].damage)
    #expect(throws: Never.self) { try FrameReader(images[1]).next() }
  }

  @Test(arguments: recipes.filter { !$0.expectations.losses.isEmpty })
  func `strict throws where something is lost`(recipe: Recipe) {
    #expect(throws: AnimatedImageError.self) { try Self.readAll(recipe, .strict) }
  }

  @Test(arguments: recipes.filter { $0.expectations.strictThrows == true })
  func `strict throws where the recipe says so`(recipe: Recipe) {
    #expect(throws: AnimatedImageError.self) { try Self.readAll(recipe, .strict) }
  }

  @Test(arguments: recipes.filter(\.expectations.isClean))
  func `strict reads a valid fixture to its end`(recipe: Recipe) throws {
    let count = try Self.readAll(recipe, .strict)
    #expect(recipe.expectations.frameCount == nil || count == recipe.expectations.frameCount)
  }

  @Test(arguments: recipes.filter { $0.expectations.partialFrameCount != nil })
  func `partialRows also keeps the rows of the frame that is cut off`(recipe: Recipe) throws {
    #expect(try Self.readAll(recipe, .partialRows) == recipe.expectations.partialFrameCount)
  }

  @Test(arguments: recipes.filter { $0.expectations.errorCode == nil })
  func `frames come out the same backwards as forwards`(recipe: Recipe) throws {
    let image = try AnimatedImage(bytes: recipe.bytes)
    var forwards: [Bitmap] = []
    let reader = FrameReader(image)
    while let frame = try reader.next() { forwards.append(frame.bitmap) }
    let backwards = try forwards.indices.reversed().map { try reader.frame(at: $0).bitmap }
    #expect(Array(backwards.reversed()) == forwards)
  }

  /// The number of frames that can be read.
  private static func readAll(
    _ recipe: Recipe, _ policy: DamagePolicy
  ) throws(AnimatedImageError) -> Int {
    let image = try AnimatedImage(
      bytes: recipe.bytes, options: DecodingOptions(damage: policy))
    let reader = FrameReader(image)
    var count = 0
    while try reader.next() != nil { count += 1 }
    return count
  }
}
