import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore

@Suite("Compressing indices", .computes)
struct LZWCompressorTests {
  /// A GIF of one frame with `indices`, whose colours are greys.
  private func file(_ indices: [UInt8], width: Int, codeSize: Int? = nil) throws -> [UInt8] {
    let height = indices.count / width
    var bytes = Array("GIF89a".utf8)
    bytes += UInt16(width).littleEndianBytes + UInt16(height).littleEndianBytes + [0xf7, 0, 0]
    bytes += (0...255).flatMap { [UInt8($0), UInt8($0), UInt8($0)] }
    bytes += [0x2c, 0, 0, 0, 0]
    bytes += UInt16(width).littleEndianBytes + UInt16(height).littleEndianBytes + [0]
    try LZWCompressor().append(
      indices.rawBytes,
      minimumCodeSize: codeSize
        ?? LZWCompressor.minimumCodeSize(greatestIndex: indices.max() ?? 0), to: &bytes)
    return bytes + [0x3b]
  }

  /// Decodes with both decoders; nil if both give the indices and find nothing wrong.
  private func problem(
    _ indices: [UInt8], width: Int, codeSize: Int? = nil
  ) throws -> String? {
    let bytes = try file(indices, width: width, codeSize: codeSize)
    for decoder in [PixelDecoder.fast, .reference] {
      let image = try AnimatedImage(
        bytes: bytes, options: DecodingOptions(damage: .strict, decoder: decoder))
      guard let frame = try FrameReader(image).next() else { return "no frame" }
      if let damage = frame.damage { return "\(indices.count) pixels, \(decoder): \(damage)" }
      for y in 0..<frame.bitmap.height {
        let row = frame.bitmap.row(y)
        for x in 0..<width where row[4 * x] != indices[y * width + x] {
          return "\(indices.count) pixels, \(decoder): pixel \(x) of row \(y)"
        }
      }
    }
    return nil
  }

  /// Indices of which no two neighbours come twice, so that each gets a code of its own.
  private func distinctPairs(_ count: Int) -> [UInt8] {
    var indices: [UInt8] = []
    var value: UInt8 = 0
    for place in 0..<count {
      indices.append(value)
      value &+= UInt8(1 + place / 256)
    }
    return indices
  }

  // With 256 colours the first entry is 258, and the table is full with 4,095, after 3,838 codes; the clear comes
  // with the next one. Entry 512 is the first that needs ten bits.
  @Test(
    "Ends and clears around every width are read alike by all decoders",
    arguments: [1...8, 250...262, 508...518, 764...774, 1788...1796, 3830...3846, 7668...7690])
  func boundaries(_ counts: ClosedRange<Int>) throws {
    for count in counts {
      #expect(try problem(distinctPairs(count), width: count) == nil)
    }
  }

  @Test("Few colours fill the table too", arguments: [2, 4, 16])
  func fewColors(_ colors: Int) throws {
    var random = SplitMix64(seed: UInt64(colors))
    let indices = (0..<40_000).map { _ in UInt8(random.next() % UInt64(colors)) }
    for count in [1, 2, 3, 5, 6, 7, 8, 9, 11, 13, 17, 31, 33, 63, 65, 100, 1000, 9999, 40_000] {
      #expect(try problem(Array(indices[..<count]), width: count) == nil)
    }
    // A code size larger than needed.
    #expect(try problem(Array(indices[..<5000]), width: 5000, codeSize: 8) == nil)
  }

  @Test("Runs of one colour, and the longest row")
  func runs() throws {
    #expect(try problem([UInt8](repeating: 3, count: 65_535), width: 65_535) == nil)
    #expect(try problem([UInt8](repeating: 0, count: 1), width: 1) == nil)
    #expect(try problem([UInt8](repeating: 255, count: 300_000), width: 1000) == nil)
  }

  @Test("Noise fills several chunks of output")
  func noise() throws {
    var random = SplitMix64(seed: 7)
    let indices = (0..<200_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    #expect(try problem(indices, width: 500) == nil)
  }

  @Test("The minimum code size is that of the greatest index, and two at least")
  func codeSizes() {
    let sizes = [0, 1, 2, 3, 4, 7, 8, 127, 128, 255].map {
      LZWCompressor.minimumCodeSize(greatestIndex: $0)
    }
    #expect(sizes == [2, 2, 2, 2, 3, 3, 4, 7, 8, 8])
  }
}
