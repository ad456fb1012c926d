import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(1)), .computes)
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

  @Test(arguments: [(0, 2), (0, 8), (0, 16), (2, 8), (2, 16)])
  func `a transparent colour makes its pixels transparent`(format: (Int, Int)) throws {
    var random = SplitMix64(seed: 5)
    var image = SampleImage(9, 7, bitDepth: format.1, colorType: format.0, random: &random)
    image.transparency = image.samples[image.channels * 4..<image.channels * 5].flatMap {
      [UInt8($0 >> 8), UInt8($0 & 255)]
    }
    let raw = image.rawData(isInterlaced: false, random: &random)
    let bytes = FrameBytes.chunks(FrameBytes.deflated(raw))
    var fast = PNGFastDecoder()
    var reference = PNGReferenceDecoder()
    let frame = try DecodedFrame(image, isInterlaced: false, bytes: bytes, by: &fast)
    check(frame, image, isDeep: false)
    #expect(frame.rows[0][4] >> 24 == 0)
    check(
      try DecodedFrame(image, isInterlaced: false, bytes: bytes, by: &reference), image,
      isDeep: false)
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
