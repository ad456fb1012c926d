import Glibc
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

/// Every fixture, truncated and with bytes changed in many places: an error or frames, never a crash.
@Suite(.timeLimit(.minutes(60)), .computes) struct MutationTests {
  /// The limits for every file here: fixtures are small, so a small one must not become large.
  static let options: DecodingOptions = {
    var options = DecodingOptions(damage: .partialRows, parallelism: 1)
    options.limits.canvasPixels = 1 << 20
    options.limits.pixelsPerPlay = 1 << 24
    return options
  }()

  /// Places of one file that are cut and flipped; larger files are stepped through.
  ///
  /// `ZOETROPE_MUTATIONS=N` takes N of each, for a long run.
  static let limits = { () -> (cuts: Int, flips: Int) in
    // getenv returns a string that ends with a zero byte; it is copied at once.
    guard let value = unsafe getenv("ZOETROPE_MUTATIONS"),
      let count = Int(unsafe String(cString: value))
    else { return (40, 10) }
    return (count, count)
  }()

  @Test(arguments: FixtureTests.recipes)
  func `cut after any byte, a fixture gives an error or at most its frames`(recipe: Recipe) {
    let whole = Self.frameCount(recipe.bytes) ?? 0
    for length in Self.places(recipe.bytes.count, Self.limits.cuts) {
      let count = Self.frameCount(Array(recipe.bytes[..<length])) ?? 0
      // A cut can end an animation whose later bytes were what made it invalid.
      if recipe.expectations.isClean { #expect(count <= whole, "cut to \(length) bytes") }
      #expect(count <= recipe.bytes.count, "cut to \(length) bytes")
    }
  }

  @Test(arguments: FixtureTests.recipes)
  func `with any byte changed, a fixture gives an error or frames`(recipe: Recipe) {
    var bytes = recipe.bytes
    for place in Self.places(bytes.count, Self.limits.flips) {
      for flip: UInt8 in [0xff, 1 << UInt8(place % 8)] {
        bytes[place] ^= flip
        let count = Self.frameCount(bytes) ?? 0
        #expect(count <= bytes.count, "byte \(place) exclusive or \(flip)")
        bytes[place] ^= flip
      }
    }
  }

  private static func places(_ count: Int, _ limit: Int) -> StrideTo<Int> {
    stride(from: 0, to: count, by: max(1, (count + limit - 1) / max(1, limit)))
  }

  /// Frames that can be read; nil for an error.
  private static func frameCount(_ bytes: [UInt8]) -> Int? {
    guard let image = try? AnimatedImage(bytes: bytes, options: options) else { return nil }
    let reader = FrameReader(image)
    var count = 0
    while (try? reader.next()) != nil {
      count += 1
      if count > image.frames.count { break }
    }
    return count
  }
}
