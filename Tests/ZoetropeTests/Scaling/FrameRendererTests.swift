import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeFrames
@testable import ZoetropeScaling

/// Frames that are rendered one after the other, while consumers keep some for any time.
@Suite(.timeLimit(.minutes(10)), .computes) struct FrameRendererTests {
  static let renderings: [Rendering] = [
    Rendering(target: TargetSize(width: 160)),
    Rendering(target: TargetSize(width: 160), filter: .nearest),
    Rendering(format: .bgra8),
    Rendering(target: TargetSize(width: 160), format: .rgb565),
  ]

  /// Places where two bitmaps differ, outside `rect`.
  private static func differ(_ one: Bitmap, _ other: Bitmap, outside rect: PixelRect) -> Bool {
    let pixel = one.format.bytesPerPixel
    return (0..<one.height).contains { y in
      let (left, right) = (one.row(y), other.row(y))
      let isInside = y >= rect.y && y < rect.maxY
      let ranges =
        isInside
        ? [0..<rect.x * pixel, rect.maxX * pixel..<left.byteCount] : [0..<left.byteCount]
      return ranges.contains { !left.extracting($0).hasSameBytes(as: right.extracting($0)) }
    }
  }

  @Test(arguments: renderings, [0, 3])
  func `frames are those that are rendered alone, however long earlier ones are kept`(
    _ rendering: Rendering, held: Int
  ) throws {
    var random = SplitMix64(seed: UInt64(held) + 5)
    // Large enough for blocks to be handed on.
    let image = try AnimatedImage(
      bytes: DeltaGIF.make(width: 170, height: 131, frameCount: 6, patch: 23))
    let new = { FrameRenderer(rendering, of: image.canvasSize, options: image.options) }
    let reader = FrameReader(image)
    let direct = FrameReader(image)
    let expected = try image.frames.indices.map { index in
      var alone = new()
      return try alone.render(direct.frame(at: index)).bitmap
    }
    var renderer = new()
    var kept: [CompositedFrame] = []
    var previous: Bitmap?
    var index = 0
    for step in 0..<30 {
      // Now and then a jump, a failure, a rest, or a copy that goes its own way.
      switch Int.random(in: 0..<16, using: &random) {
      case 0:
        index = Int.random(in: 0..<6, using: &random)
        previous = nil
      case 1:
        // Scaling is cancelled between rows; converting and picking are quick.
        var checks = 0
        _ = try? renderer.render(reader.frame(at: index)) {
          checks += 1
          return checks > 1
        }
        previous = nil
      case 2: renderer.rest()
      case 3:
        var copy = renderer
        _ = try copy.render(reader.frame(at: index))
        index = (index + 1) % 6
        previous = nil
      default: break
      }
      let frame = try renderer.render(reader.frame(at: index))
      #expect(frame.bitmap == expected[index], "step \(step), frame \(index)")
      if let previous, frame.dirtyRect != PixelRect(frame.bitmap.size) {
        #expect(!Self.differ(previous, frame.bitmap, outside: frame.dirtyRect), "step \(step)")
      }
      previous = frame.bitmap
      kept.append(frame)
      while kept.count > held {
        let frame = kept.remove(at: Int.random(in: 0..<kept.count, using: &random))
        #expect(frame.bitmap == expected[frame.index], "kept from frame \(frame.index)")
      }
      index = (index + 1) % 6
    }
    for frame in kept { #expect(frame.bitmap == expected[frame.index]) }
  }
}
