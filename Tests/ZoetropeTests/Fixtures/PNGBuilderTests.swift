import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes) struct PNGBuilderTests {
  @Test func `an IEND chunk has the bytes that every PNG ends with`() {
    #expect(
      PNGChunk("IEND").bytes == [0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82])
  }

  @Test func `a chunk can have a wrong length and a wrong checksum`() {
    var chunk = PNGChunk("IEND")
    chunk.declaredLength = 0x0102_0304
    chunk.hasCorrectChecksum = false
    #expect(chunk.bytes.prefix(4) == [1, 2, 3, 4])
    #expect(chunk.bytes.suffix(4) != PNGChunk("IEND").bytes.suffix(4))
  }

  @Test func `checksums are those of the PNG and zlib specifications`() {
    #expect(ZlibStream.crc32(Array("123456789".utf8)) == 0xcbf4_3926)
    #expect(ZlibStream.adler32(Array("Wikipedia".utf8)) == 0x11e6_0398)
  }

  @Test func `fixed codes compress repeats and end with a whole byte`() {
    let bytes = FixedDeflate.encode([UInt8](repeating: 0, count: 10_000))
    #expect(bytes.count <= 100)
    // A final block of fixed codes with nothing in it: 1, 01, 0000000.
    #expect(FixedDeflate.encode([]) == [0b0000_0011, 0])
  }

  @Test func `sequence numbers count through fcTL and fdAT and can be given outright`() {
    var apng = APNGBuilder()
    #expect(apng.sequence() == [0, 0, 0, 0])
    #expect(apng.sequence(9) == [0, 0, 0, 9])
    #expect(apng.sequence() == [0, 0, 0, 10])
  }

  static let layouts: [PNGLayout] = PNGLayout.ColorType.allCases.flatMap { type in
    type.depths.flatMap { depth in
      [false, true].map { PNGLayout(type, depth: depth, isInterlaced: $0) }
    }
  }

  @Test(
    arguments: layouts,
    [
      ZlibStream.Method.fixed, .stored(blockSize: 1000), .library(level: 1), .library(level: 12),
    ])
  func `what the builder writes, the decoder reads`(
    layout: PNGLayout, method: ZlibStream.Method
  ) throws {
    for seed: UInt64 in 0..<4 {
      var random = SplitMix64(seed: seed)
      let size = PixelSize(
        width: Int.random(in: 1...40, using: &random),
        height: Int.random(in: 1...30, using: &random))
      var picture = Picture(PixelRect(size))
      let colors = Self.colors(of: layout)
      picture.noise(seed: seed, colors)
      var lines = PNGScanlines(layout)
      lines.filters = (0..<7).map { _ in UInt8(random.next() % 5) }
      var stream = ZlibStream()
      stream.method = method
      var png = PNGBuilder()
      png.signature()
      png.chunk(
        "IHDR",
        PNGBuilder.header(
          width: UInt32(size.width), height: UInt32(size.height), layout: layout))
      if layout.colorType == .palette {
        png.chunk("PLTE", PNGBuilder.palette(colors.map(\.rgba)))
      }
      png.chunk("IDAT", stream.encode(lines.encode(picture)))
      png.chunk("IEND")
      for decoder in [PixelDecoder.fast, .reference] {
        let image = try AnimatedImage(
          bytes: png.bytes, options: DecodingOptions(damage: .strict, decoder: decoder))
        let shown = try #require(try FrameReader(image).next())
        #expect(
          shown.bitmap.canonicalBytes == picture.canonicalBytes, "seed \(seed), \(decoder)")
      }
    }
  }

  /// Colours that the layout can hold exactly.
  private static func colors(of layout: PNGLayout) -> [PixelSample] {
    let levels = 1 << min(layout.depth, 6)
    return (0..<levels).map { step in
      let grey = UInt16(step * 65_535 / (levels - 1))
      switch layout.colorType {
      case .palette:
        var sample = PixelSample(
          RGBA(red: UInt8(step), green: UInt8(255 - step), blue: UInt8(step * 3)))
        sample.index = UInt8(step)
        return sample
      case .gray: return PixelSample(red: grey, green: grey, blue: grey)
      case .grayAlpha:
        return PixelSample(red: grey, green: grey, blue: grey, alpha: ~grey | 0x0100)
      case .rgb: return PixelSample(red: grey, green: ~grey, blue: grey &* 31)
      case .rgba: return PixelSample(red: grey, green: ~grey, blue: grey &* 31, alpha: grey &* 7)
      }
    }
  }
}
