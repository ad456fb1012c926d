import TestRunning
import Testing
import ZoetropeTestSupport

@testable import Zoetrope

/// What strict reading reports about a file that ends early.
@Suite(.timeLimit(.minutes(10)), .computes) struct EarlyEndTests {
  static let options = DecodingOptions(damage: .strict)
  /// Small fixtures that strict reading accepts.
  static let recipes = StreamedImageTests.recipes.filter { recipe in
    recipe.bytes.count < 700 && (try? Self.decode(recipe.bytes)) != nil
  }

  private static func decode(_ bytes: [UInt8]) throws(AnimatedImageError) {
    let image = try AnimatedImage(bytes: bytes, options: options)
    let reader = FrameReader(image)
    for index in image.frames.indices { _ = try reader.frame(at: index) }
  }

  @Test(arguments: recipes)
  func `a file cut at any byte is truncated, never malformed`(recipe: Recipe) async {
    for length in recipe.bytes.indices {
      let bytes = Array(recipe.bytes[..<length])
      do throws(AnimatedImageError) { try Self.decode(bytes) } catch {
        #expect(error.code == .truncated, "\(length) of \(recipe.bytes.count): \(error)")
      }
      let stream = await StreamedImageTests.receive(bytes, .thousand, options: Self.options)
      if let error = stream.ending?.error {
        #expect(error.code == .truncated, "\(length) of \(recipe.bytes.count): \(error)")
      }
    }
  }
}
