import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct PNGDecoderTests {
  /// The colour types and depths that PNG allows.
  static let formats = [
    (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8),
    (4, 8), (4, 16), (6, 8), (6, 16),
  ]

  private func check(_ frame: DecodedFrame, _ image: SampleImage, isDeep: Bool) {
    #expect(frame.rows.count == image.height)
    // Random indices lie past a random palette now and then, which is no fault of the data.
    #expect(frame.damage == nil || image.colorType == 3 && frame.damage?.kind == .pixelIndex)
    for (y, row) in frame.rows.enumerated() {
      for (x, pixel) in row.enumerated() {
        let deep = image.deepPixel(x, y)
        let word = (0..<4).reduce(UInt32(0)) { $0 | UInt32(deep[$1] >> 8) << (8 * UInt32($1)) }
        guard pixel == word else {
          Issue.record("pixel \(x), \(y) of \(image.colorType)/\(image.bitDepth)")
          return
        }
        if isDeep, frame.deepRows[y][x] != SIMD4(deep[0], deep[1], deep[2], deep[3]) {
          Issue.record("deep pixel \(x), \(y) of \(image.colorType)/\(image.bitDepth)")
          return
        }
      }
    }
  }

  @Test(arguments: formats, [false, true])
  func `both decoders give the stored samples`(format: (Int, Int), isInterlaced: Bool) throws {
    var random = SplitMix64(seed: UInt64(format.0 * 100 + format.1))
    var fast = PNGFastDecoder(keeps16Bit: true)
    var reference = PNGReferenceDecoder(keeps16Bit: true)
    var shallow = PNGReferenceDecoder()
    for (width, height) in [(1, 1), (2, 9), (7, 5), (13, 1), (21, 12)] {
      let image = SampleImage(
        width, height, bitDepth: format.1, colorType: format.0, random: &random)
      let raw = image.rawData(isInterlaced: isInterlaced, random: &random)
      let bytes = FrameBytes.chunks(
        FrameBytes.deflated(raw), isFirst: width != 7, size: width == 21 ? 50 : .max)
      check(
        try DecodedFrame(image, isInterlaced: isInterlaced, bytes: bytes, by: &fast), image,
        isDeep: true)
      check(
        try DecodedFrame(image, isInterlaced: isInterlaced, bytes: bytes, by: &reference), image,
        isDeep: true)
      check(
        try DecodedFrame(image, isInterlaced: isInterlaced, bytes: bytes, by: &shallow), image,
        isDeep: format.1 != 16)
    }
  }

  @Test(
    arguments: [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16)], [false, true])
  func `a transparent colour makes its pixels transparent`(
    format: (Int, Int), isInterlaced: Bool
  ) throws {
    var random = SplitMix64(seed: 5)
    var image = SampleImage(40, 7, bitDepth: format.1, colorType: format.0, random: &random)
    let key = Array(image.samples[image.channels * 4..<image.channels * 5])
    // Sixteen bits that differ in the low byte only must not be taken for the key.
    for pixel in 200..<230 {
      var near = key
      if pixel % 2 == 0 { near[pixel % near.count] ^= 1 }
      image.samples.replaceSubrange(
        pixel * image.channels..<(pixel + 1) * image.channels, with: near)
    }
    image.transparency = key.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    let raw = image.rawData(isInterlaced: isInterlaced, random: &random)
    let bytes = FrameBytes.chunks(FrameBytes.deflated(raw))
    for keeps16Bit in [false, true] {
      var fast = PNGFastDecoder(keeps16Bit: keeps16Bit)
      var reference = PNGReferenceDecoder(keeps16Bit: keeps16Bit)
      let frame = try DecodedFrame(image, isInterlaced: isInterlaced, bytes: bytes, by: &fast)
      check(frame, image, isDeep: keeps16Bit)
      #expect(frame.rows[0][4] >> 24 == 0)
      check(
        try DecodedFrame(image, isInterlaced: isInterlaced, bytes: bytes, by: &reference), image,
        isDeep: keeps16Bit)
    }
  }

  @Test(arguments: [(0, 2), (0, 8), (2, 8)])
  func `bits of a transparent colour past the depth do not count`(format: (Int, Int)) throws {
    var random = SplitMix64(seed: 6)
    var image = SampleImage(19, 5, bitDepth: format.1, colorType: format.0, random: &random)
    let key = image.samples[..<image.channels]
    image.transparency = key.flatMap { [UInt8(0xf0), UInt8($0)] }
    let raw = image.rawData(isInterlaced: false, random: &random)
    let bytes = FrameBytes.chunks(FrameBytes.deflated(raw))
    var fast = PNGFastDecoder()
    var reference = PNGReferenceDecoder()
    let frame = try DecodedFrame(image, isInterlaced: false, bytes: bytes, by: &fast)
    #expect(frame.rows[0][0] >> 24 == 0)
    #expect(
      try DecodedFrame(image, isInterlaced: false, bytes: bytes, by: &reference).rows == frame.rows)
  }

  /// Widths around those at which blocks of packed samples end, and around the steps of the passes.
  @Test(arguments: [1, 2, 4], [false, true])
  func `packed samples of every width are those of libpng`(bitDepth: Int, isInterlaced: Bool) throws
  {
    var random = SplitMix64(seed: UInt64(bitDepth))
    var fast = PNGFastDecoder()
    var reference = PNGReferenceDecoder()
    for width in Array(1...34) + [63, 64, 65, 127, 128, 129, 200] {
      for colorType in [0, 3] {
        let image = SampleImage(
          width, Int.random(in: 1...17, using: &random), bitDepth: bitDepth, colorType: colorType,
          random: &random)
        let raw = image.rawData(isInterlaced: isInterlaced, random: &random)
        let bytes = FrameBytes.chunks(FrameBytes.deflated(raw))
        let own = try DecodedFrame(image, isInterlaced: isInterlaced, bytes: bytes, by: &fast)
        let libpng = try DecodedFrame(
          image, isInterlaced: isInterlaced, bytes: bytes, by: &reference)
        #expect(own.rows == libpng.rows && own.rows.count == image.height, "\(width) wide")
        #expect(own.layout == .indexed8)
      }
    }
  }

  @Test(arguments: formats, [false, true])
  func `data that is cut short gives the rows that libpng gives`(
    format: (Int, Int), isInterlaced: Bool
  ) throws {
    var random = SplitMix64(seed: UInt64(format.0 * 50 + format.1))
    var fast = PNGFastDecoder()
    var reference = PNGReferenceDecoder()
    let image = SampleImage(37, 21, bitDepth: format.1, colorType: format.0, random: &random)
    let raw = image.rawData(isInterlaced: isInterlaced, random: &random)
    for _ in 0..<12 {
      // Fewer rows in a stream that is right, and a stream whose end is missing.
      let short = FrameBytes.deflated(
        Array(raw.prefix(Int.random(in: 0..<raw.count, using: &random))))
      let whole = FrameBytes.deflated(raw)
      let cut = Array(whole.prefix(Int.random(in: 0..<whole.count, using: &random)))
      for stream in [short, cut] {
        let bytes = FrameBytes.chunks(stream)
        let own = try DecodedFrame(image, isInterlaced: isInterlaced, bytes: bytes, by: &fast)
        let libpng = try DecodedFrame(
          image, isInterlaced: isInterlaced, bytes: bytes, by: &reference)
        #expect(own.rows == libpng.rows)
        #expect(own.damage == libpng.damage && own.damage != nil)
      }
    }
  }

  @Test(arguments: [1, 2, 4, 8], [false, true])
  func `an index past the palette is black and reported, whatever its depth`(
    bitDepth: Int, isInterlaced: Bool
  ) throws {
    var random = SplitMix64(seed: 3)
    var image = SampleImage(70, 9, bitDepth: bitDepth, colorType: 3, random: &random)
    image.palette = [0xff11_2233]
    image.samples = image.samples.map { _ in 0 }
    var fast = PNGFastDecoder()
    func decode() throws -> DecodedFrame {
      let raw = image.rawData(isInterlaced: isInterlaced, random: &random)
      return try DecodedFrame(
        image, isInterlaced: isInterlaced,
        bytes: FrameBytes.chunks(FrameBytes.deflated(raw)), by: &fast)
    }
    #expect(try decode().damage == nil)
    // The last pixel of the last row but one, and the first one of a row.
    for (x, y) in [(69, 7), (0, 4)] {
      image.samples[y * 70 + x] = 1
      let frame = try decode()
      #expect(frame.damage?.kind == .pixelIndex)
      #expect(frame.damage?.detail.contains("row \(y) ") == true)
      #expect(frame.rows[y][x] == 0xff00_0000)
    }
  }

  @Test func `a frame without pixels is empty and undamaged`() throws {
    var random = SplitMix64(seed: 1)
    let image = SampleImage(0, 4, bitDepth: 8, colorType: 6, random: &random)
    var fast = PNGFastDecoder()
    let frame = try DecodedFrame(image, isInterlaced: false, bytes: [], by: &fast)
    #expect(frame.rows.isEmpty)
    #expect(frame.damage == nil)
  }
}
