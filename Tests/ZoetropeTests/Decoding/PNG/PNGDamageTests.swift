import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct PNGDamageTests {
  private struct Sample {
    var image: SampleImage
    var raw: [UInt8]
    let pitch: Int

    init(_ width: Int = 12, _ height: Int = 9, seed: UInt64 = 3) {
      var random = SplitMix64(seed: seed)
      image = SampleImage(width, height, bitDepth: 8, colorType: 2, random: &random)
      raw = image.rawData(isInterlaced: false, random: &random)
      pitch = width * 3 + 1
    }

    /// Decodes by both decoders, which must agree, and gives what the fast one says.
    func decode(_ bytes: [UInt8]) throws -> DecodedFrame {
      var fast = PNGFastDecoder()
      var reference = PNGReferenceDecoder()
      let frame = try DecodedFrame(image, isInterlaced: false, bytes: bytes, by: &fast)
      let other = try DecodedFrame(image, isInterlaced: false, bytes: bytes, by: &reference)
      #expect(frame.rows == other.rows)
      return frame
    }

    /// Whether the frame's rows are the first `count` of the picture.
    func has(_ count: Int, _ frame: DecodedFrame) throws -> Bool {
      let whole = try decode(FrameBytes.chunks(FrameBytes.deflated(raw)))
      return frame.rows == Array(whole.rows.prefix(count))
    }
  }

  @Test func `a wrong CRC is reported and its data used`() throws {
    let sample = Sample()
    var bytes = FrameBytes.chunks(FrameBytes.deflated(sample.raw), size: 40)
    bytes[52 + 8 + 40] ^= 1
    let frame = try sample.decode(bytes)
    #expect(frame.damage?.kind == .pngImageCRC)
    #expect(frame.damage?.byteOffset == 152)
    #expect(frame.damage?.frameIndex == 3)
    #expect(try sample.has(9, frame))
  }

  @Test func `a wrong Adler-32 is reported and costs no row`() throws {
    let sample = Sample()
    var stream = FrameBytes.deflated(sample.raw)
    stream[stream.count - 1] ^= 1
    let frame = try sample.decode(FrameBytes.chunks(stream))
    #expect(frame.damage?.kind == .pngAdler)
    #expect(try sample.has(9, frame))
  }

  @Test(arguments: [1, 30, 33, 400, 5000])
  func `surplus data is reported and ignored`(count: Int) throws {
    let sample = Sample()
    let surplus = [UInt8](repeating: 77, count: count)
    let frame = try sample.decode(FrameBytes.chunks(FrameBytes.deflated(sample.raw + surplus)))
    #expect(frame.damage?.kind == .pngSurplus)
    #expect(try sample.has(9, frame))
  }

  @Test func `libpng is not needed for rows that are cut off or have surplus data after them`()
    throws
  {
    var random = SplitMix64(seed: 9)
    let sample = Sample(40, 60)
    let stream = FrameBytes.deflated(sample.raw)
    let bytes = FrameBytes.chunks(stream)
    let noise = (0..<5000).map { _ in UInt8.random(in: 0...255, using: &random) }
    let cases: [([UInt8], Damage.Kind)] = [
      (Array(bytes.prefix(bytes.count / 2)), .pngTruncated),
      (FrameBytes.chunks(Array(stream.prefix(stream.count / 2))), .pngShort),
      (FrameBytes.chunks(FrameBytes.deflated(sample.raw + noise)), .pngSurplus),
    ]
    for (bytes, kind) in cases {
      let frame = try sample.decode(bytes)
      // Those of libpng are RGBA.
      #expect(frame.layout == .rgb8)
      #expect(frame.damage?.kind == kind)
      #expect(!frame.rows.isEmpty)
      #expect(try sample.has(frame.rows.count, frame))
    }
  }

  @Test func `a stream is judged alike whether or not its chunk is whole`() throws {
    let sample = Sample()
    let stream = FrameBytes.deflated(sample.raw)
    // The chunk announces more than there is, which is all that the picture needs.
    let bytes = FrameBytes.chunks(stream + [1, 2, 3, 4, 5, 6, 7, 8])
    let frame = try sample.decode(Array(bytes.dropLast(10)))
    #expect(frame.damage?.kind == .pngSurplus)
    #expect(try sample.has(9, frame))
  }

  @Test func `surplus data is not inflated to its end`() throws {
    let sample = Sample()
    // The second half is not deflate data, which only a decoder that goes on notices.
    var stream = FrameBytes.deflated(sample.raw + [UInt8](repeating: 0, count: 32 << 20))
    for index in stream.count / 2..<stream.count { stream[index] = 0xff }
    for isCRCRight in [true, false] {
      var bytes = FrameBytes.chunks(stream)
      if !isCRCRight { bytes[bytes.count - 1] ^= 1 }
      let frame = try sample.decode(bytes)
      #expect(frame.damage?.kind == (isCRCRight ? .pngSurplus : .pngImageCRC))
      #expect(try sample.has(9, frame))
    }
  }

  @Test func `too few rows are kept and reported as short`() throws {
    let sample = Sample()
    for count in [0, 1, sample.pitch - 1, sample.pitch, 5 * sample.pitch + 4] {
      let raw = Array(sample.raw.prefix(count))
      let frame = try sample.decode(FrameBytes.chunks(FrameBytes.deflated(raw)))
      #expect(frame.damage?.kind == .pngShort)
      #expect(frame.damage?.validRows == count / sample.pitch)
      #expect(try sample.has(count / sample.pitch, frame))
    }
  }

  @Test func `rows before one with an unknown filter are kept`() throws {
    var sample = Sample()
    let whole = sample
    sample.raw[4 * sample.pitch] = 5
    let frame = try sample.decode(FrameBytes.chunks(FrameBytes.deflated(sample.raw)))
    #expect(frame.damage?.kind == .pngFilter)
    #expect(frame.damage?.validRows == 4)
    #expect(try whole.has(4, frame))
  }

  @Test func `a file that ends inside a frame keeps the rows until there`() throws {
    let sample = Sample(12, 60)
    let bytes = FrameBytes.chunks(FrameBytes.deflated(sample.raw), size: 300)
    var last = 0
    for count in stride(from: 0, to: bytes.count, by: 37) {
      let frame = try sample.decode(Array(bytes.prefix(count)))
      #expect(frame.rows.count >= last, "more bytes, no fewer rows")
      #expect(try sample.has(frame.rows.count, frame))
      if frame.rows.count < 60 {
        #expect(frame.damage?.kind.isTolerated == false)
        #expect(frame.damage?.validRows == frame.rows.count)
      }
      last = frame.rows.count
    }
    #expect(last > 50)
  }

  @Test(arguments: [(2, 8, 15, 14), (3, 4, 33, 9), (0, 1, 40, 3), (6, 16, 1, 12), (4, 8, 7, 1)])
  func `an interlaced frame that is cut keeps the rows that libpng completes`(
    colorType: Int, bitDepth: Int, width: Int, height: Int
  ) throws {
    var random = SplitMix64(seed: UInt64(width))
    let image = SampleImage(
      width, height, bitDepth: bitDepth, colorType: colorType, random: &random)
    var raw = image.rawData(isInterlaced: true, random: &random)
    var fast = PNGFastDecoder()
    var reference = PNGReferenceDecoder()
    for hasBadFilter in [false, true] {
      // Of the last row.
      if hasBadFilter { raw[raw.count - (width * image.bitDepth * image.channels + 7) / 8 - 1] = 5 }
      let stream = FrameBytes.deflated(raw)
      let bytes = FrameBytes.chunks(stream)
      // Only the fast decoder looks for indices past the palette of a whole frame.
      for count in 0..<bytes.count {
        let part = Array(bytes.prefix(count))
        let one = try DecodedFrame(image, isInterlaced: true, bytes: part, by: &fast)
        let two = try DecodedFrame(image, isInterlaced: true, bytes: part, by: &reference)
        #expect(one.rows == two.rows && one.damage == two.damage, "\(count) bytes")
      }
    }
  }

  @Test func `all rows without the stream's end are all rows`() throws {
    let sample = Sample()
    let stream = FrameBytes.deflated(sample.raw)
    for missing in 1...4 {
      let frame = try sample.decode(FrameBytes.chunks(Array(stream.dropLast(missing))))
      #expect(frame.damage?.kind == .pngStreamEnd)
      #expect(try sample.has(9, frame))
    }
  }

  @Test func `other chunks between those of a frame are passed over`() throws {
    let sample = Sample()
    let stream = FrameBytes.deflated(sample.raw)
    let half = stream.count / 2
    let bytes =
      FrameBytes.chunk("IDAT", Array(stream.prefix(half)))
      + FrameBytes.chunk("tEXt", Array("Comment\0IDAT".utf8))
      + FrameBytes.chunk("IDAT", Array(stream.dropFirst(half)))
    let frame = try sample.decode(bytes)
    #expect(frame.damage == nil)
    #expect(try sample.has(9, frame))
  }

  @Test(arguments: [(2, 8, false), (6, 8, false), (3, 8, false), (0, 4, false), (6, 16, true)])
  func `both decoders keep the same rows of corrupted data`(
    colorType: Int, bitDepth: Int, isInterlaced: Bool
  ) throws {
    var random = SplitMix64(seed: UInt64(colorType * 40 + bitDepth))
    let image = SampleImage(15, 14, bitDepth: bitDepth, colorType: colorType, random: &random)
    let raw = image.rawData(isInterlaced: isInterlaced, random: &random)
    let good = FrameBytes.deflated(raw)
    var fast = PNGFastDecoder()
    var reference = PNGReferenceDecoder()
    for _ in 0..<150 {
      var stream = good
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<stream.count, using: &random)
        stream[place] = UInt8.random(in: 0...255, using: &random)
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        stream.removeLast(Int.random(in: 0..<stream.count, using: &random))
      }
      let bytes = FrameBytes.chunks(stream, size: 64)
      let one = try DecodedFrame(image, isInterlaced: isInterlaced, bytes: bytes, by: &fast)
      let two = try DecodedFrame(image, isInterlaced: isInterlaced, bytes: bytes, by: &reference)
      #expect(one.rows == two.rows)
      #expect(one.rows.count == image.height || one.damage?.kind.isTolerated == false)
    }
  }

  @Test func `a reserved code stops the frame as in libpng, unless all checksums are right`() throws
  {
    var random = SplitMix64(seed: 1)
    let image = SampleImage(200, 9, bitDepth: 8, colorType: 0, random: &random)
    let raw = [UInt8](repeating: 0, count: 9 * 201)
    let checksum = Array(FrameBytes.deflated(raw).suffix(4))
    var fast = PNGFastDecoder()
    var reference = PNGReferenceDecoder()
    for code in [286, 287] {
      let stream = [0x78, 0x01] + FixedDeflate.encode(raw, longestMatch: code) + checksum
      var bytes = FrameBytes.chunks(stream)
      let proved = try DecodedFrame(image, isInterlaced: false, bytes: bytes, by: &fast)
      #expect(proved.damage == nil && proved.rows.count == 9)
      bytes[bytes.count - 1] ^= 1
      let doubtful = try DecodedFrame(image, isInterlaced: false, bytes: bytes, by: &fast)
      let libpng = try DecodedFrame(image, isInterlaced: false, bytes: bytes, by: &reference)
      #expect(doubtful == libpng && doubtful.damage?.kind == .pngStream && doubtful.rows.count < 9)
    }
  }
}
