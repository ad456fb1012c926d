import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCore

/// Players whose consumers keep frames for any time, while their memory goes round.
@Suite(.timeLimit(.minutes(10)), .computes) struct KeptFramesTests {
  @Test(arguments: 0..<8 as Range<UInt64>)
  func `pixels and changes are right, whatever a consumer keeps and for how long`(
    seed: UInt64
  ) async throws {
    var random = SplitMix64(seed: 900 + seed)
    // Large enough for blocks to be handed on.
    let image = try AnimatedImage(
      bytes: DeltaGIF.make(width: 170, height: 131, frameCount: 23, patch: 23))
    let rendering = seed % 2 == 0 ? Rendering() : Rendering(target: TargetSize(width: 160))
    let reader = FrameReader(image)
    var renderer = FrameRenderer(rendering, of: image.canvasSize, options: image.options)
    let expected = try image.frames.indices.map {
      try renderer.render(reader.frame(at: $0)).bitmap
    }
    var options = seed % 4 < 2 ? PlaybackOptions.everyFrame : PlaybackOptions()
    options.playCount = .indefinite
    options.decodeAhead = Int.random(in: 0...4, using: &random)
    let scheduler = FrameScheduler(
      image, rendering: rendering, options: options, clock: ManualClock(.jumping))
    let most = Int.random(in: 0...9, using: &random)
    var kept: [ScheduledFrame] = []
    var previous: ScheduledFrame?
    var count = 0
    for await frame in scheduler.play().stream {
      #expect(frame.bitmap == expected[frame.index], "frame \(frame.index)")
      if let previous {
        #expect(
          previous.bitmap.agrees(with: frame.bitmap, outside: frame.dirtyRect),
          "frame \(frame.index) after \(previous.index)")
      }
      previous = Bool.random(using: &random) ? frame : nil
      if Bool.random(using: &random) { kept.append(frame) }
      while kept.count > most || !kept.isEmpty && Int.random(in: 0..<6, using: &random) == 0 {
        let frame = kept.remove(at: Int.random(in: 0..<kept.count, using: &random))
        #expect(frame.bitmap == expected[frame.index], "kept from frame \(frame.index)")
      }
      count += 1
      if count == 150 { break }
      // A seek now and then; frames on their way come before it.
      if Int.random(in: 0..<20, using: &random) == 0 {
        _ = try scheduler.seek(toFrame: Int.random(in: 0..<23, using: &random))
      }
    }
    for frame in kept { #expect(frame.bitmap == expected[frame.index]) }
  }
}

extension Bitmap {
  /// Whether no pixel outside `rect` differs.
  func agrees(with other: Bitmap, outside rect: PixelRect) -> Bool {
    (0..<height).allSatisfy { y in
      let (left, right) = (row(y), other.row(y))
      guard y >= rect.y, y < rect.maxY else { return left.hasSameBytes(as: right) }
      let (start, end) = (rect.x * format.bytesPerPixel, rect.maxX * format.bytesPerPixel)
      return left.extracting(..<start).hasSameBytes(as: right.extracting(..<start))
        && left.extracting(end...).hasSameBytes(as: right.extracting(end...))
    }
  }
}
