import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// Frames whose memory becomes the canvas, beside the same frames drawn on it.
@Suite(.timeLimit(.minutes(10)), .computes) struct InPlaceLayoutTests {
  /// Frames of random samples, most of them larger than half of the canvas, some damaged.
  private static func film(_ type: PNGLayout.ColorType, seed: UInt64) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
    let (width, height) = (1 + below(48), 1 + below(24))
    var file = APNGBuilder()
    file.png.signature()
    file.png.chunk(
      "IHDR",
      PNGBuilder.header(
        width: UInt32(width), height: UInt32(height), layout: PNGLayout(type, depth: 8)))
    if type == .palette {
      file.png.chunk("PLTE", (0..<768).map { UInt8($0 & 255) })
      if seed % 2 == 0 { file.png.chunk("tRNS", (0..<256).map { UInt8($0) }) }
    }
    file.animationControl(frames: 12)
    for index in 0..<12 {
      let isWhole = index == 0 || below(3) == 0
      let frameWidth = isWhole ? width : width - below((width + 2) / 3)
      let frameHeight = isWhole ? height : 1 + below(height)
      var control = APNGFrameControl(
        width: UInt32(frameWidth), height: UInt32(frameHeight),
        x: UInt32(below(width - frameWidth + 1)), y: UInt32(below(height - frameHeight + 1)))
      control.disposal = UInt8(below(3))
      control.blend = below(3) == 0 ? 1 : 0
      file.frameControl(control)
      let rows = (0..<frameHeight).flatMap { _ in
        [UInt8(below(5))] + (0..<frameWidth * type.channels).map { _ in UInt8(below(256)) }
      }
      // A frame without its last bytes is drawn as far as it goes.
      let data = ZlibStream().encode(rows).dropLast(below(8) == 0 ? 9 : 0)
      if index == 0 { file.png.chunk("IDAT", Array(data)) } else { file.frameData(Array(data)) }
    }
    file.png.chunk("IEND")
    return file.bytes
  }

  @Test(arguments: PNGLayout.ColorType.allCases)
  func `frames that become the canvas equal those that are drawn`(
    type: PNGLayout.ColorType
  ) throws {
    for seed: UInt64 in 0..<3 {
      let bytes = Self.film(type, seed: seed)
      let expected = try ThreadedReaderTests.sequential(bytes)
      let image = try AnimatedImage(bytes: bytes, options: ThreadedReaderTests.options)
      #expect(
        (image.header.codec.inPlaceLayout(image.header, image.options) != nil) == (type == .rgba))
      // If frames are dropped at once, one canvas's block serves the next frame; if they are kept, each has its own.
      let dropping = ThreadedReaderTests.reader(image)
      for bitmap in expected { #expect(try dropping.next()?.bitmap == bitmap, "seed \(seed)") }
      let keeping = ThreadedReaderTests.reader(image)
      var kept: [Bitmap] = []
      while let frame = try keeping.next() { kept.append(frame.bitmap) }
      #expect(kept == expected, "seed \(seed)")
      // Every second one kept, for two plays, so that both happen in turn.
      kept = []
      for round in 0..<2 {
        keeping.rewind()
        for index in expected.indices {
          let bitmap = try #require(try keeping.next()).bitmap
          #expect(bitmap == expected[index], "seed \(seed), frame \(index)")
          if (index + round) % 2 == 0 { kept.append(bitmap) }
        }
      }
      for (place, bitmap) in kept.enumerated() {
        let index = place * 2 % 12 + (place < 6 ? 0 : 1)
        #expect(bitmap == expected[index], "seed \(seed), kept \(place)")
      }
    }
  }

  @Test func `other formats, and samples of more bytes than a pixel, are drawn`() throws {
    for (depth, type) in [(16, PNGLayout.ColorType.rgba), (16, .rgb), (8, .rgb), (2, .gray)] {
      var file = PNGBuilder()
      file.signature()
      file.chunk(
        "IHDR",
        PNGBuilder.header(width: 2, height: 1, layout: PNGLayout(type, depth: depth)))
      file.chunk("IDAT", ZlibStream().encode([UInt8](repeating: 0, count: 17)))
      file.chunk("IEND")
      #expect(try Self.form(file.bytes) == nil)
    }
    let gif = DeltaGIF.make(width: 8, height: 8, frameCount: 2)
    #expect(try Self.form(gif) == nil)
  }

  private static func form(_ bytes: [UInt8]) throws -> InPlaceLayout? {
    let image = try AnimatedImage(bytes: bytes)
    return image.header.codec.inPlaceLayout(image.header, image.options)
  }
}
