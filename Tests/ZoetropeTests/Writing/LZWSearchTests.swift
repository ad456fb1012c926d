import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore

@Suite("Searching for short data", .timeLimit(.minutes(10)), .computes) struct LZWSearchTests {
  private static let rules = [
    LZWSearch.Rule(lookahead: 0), LZWSearch.Rule(lookahead: 1, keepsFullTable: true),
    LZWSearch.Rule(lookahead: 4, branches: 8),
    LZWSearch.Rule(lookahead: 2, branches: 2, keepsFullTable: true),
  ]

  /// What both decoders find wrong with data for `first`, in which each pixel may be that of `second`.
  private func problem(
    _ first: [UInt8], _ second: [UInt8], width: Int, _ rule: LZWSearch.Rule
  ) throws -> String? {
    let height = first.count / width
    var bytes = Array("GIF89a".utf8)
    bytes += UInt16(width).littleEndianBytes + UInt16(height).littleEndianBytes + [0xf7, 0, 0]
    bytes += (0...255).flatMap { [UInt8($0), UInt8($0), UInt8($0)] }
    bytes += [0x2c, 0, 0, 0, 0]
    bytes += UInt16(width).littleEndianBytes + UInt16(height).littleEndianBytes + [0]
    let greatest = max(first.max() ?? 0, second.max() ?? 0)
    let result = try LZWSearch().append(
      first.rawBytes, or: second.rawBytes,
      minimumCodeSize: LZWCompressor.minimumCodeSize(greatestIndex: greatest), rule, limit: .max,
      to: &bytes)
    if result.isTooLong { return "too long" }
    bytes.append(0x3b)
    for decoder in [PixelDecoder.fast, .reference] {
      let image = try AnimatedImage(
        bytes: bytes, options: DecodingOptions(damage: .strict, decoder: decoder))
      guard let frame = try FrameReader(image).next() else { return "no frame" }
      if let damage = frame.damage { return "\(first.count) pixels, \(decoder): \(damage)" }
      for y in 0..<height {
        let row = frame.bitmap.row(y)
        var (x, place) = (0, y * width)
        while x < width {
          let shown = row[4 * x]
          if shown != first[place], shown != second[place] {
            return "\(first.count) pixels, \(decoder): pixel \(x) of row \(y)"
          }
          (x, place) = (x + 1, place + 1)
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

  // With 256 colours the first entry is 258, and the table is full with 4,095, after 3,838 codes. Entries 510 to 514
  // come with 253 to 257 codes, and 4,094 to 4,098 with 3,837 to 3,841.
  @Test(
    "Ends and clears around every width are read alike by all decoders",
    arguments: [1...8, 250...262, 764...774, 1788...1796, 3830...3846, 7668...7690])
  func boundaries(_ counts: ClosedRange<Int>) throws {
    for count in counts {
      let indices = distinctPairs(count)
      for rule in Self.rules {
        #expect(try problem(indices, indices, width: count, rule) == nil, "\(rule)")
      }
    }
  }

  @Test("Tables of 2, 4 and 256 colours, one pixel, and the longest row", arguments: rules)
  func shapes(_ rule: LZWSearch.Rule) throws {
    var random = SplitMix64(seed: 5)
    for colors in [2, 4, 256] as [UInt64] {
      let indices = (0..<60_000).map { _ in UInt8(random.next() % colors) }
      for count in [1, 2, 3, 5, 9, 17, 33, 100, 1000, 60_000] {
        let part = Array(indices[..<count])
        #expect(try problem(part, part, width: count, rule) == nil)
      }
    }
    let flat = [UInt8](repeating: 1, count: 65_535)
    #expect(try problem(flat, flat, width: 65_535, rule) == nil)
  }

  @Test("A pixel of two indices gets one of them", arguments: rules)
  func choices(_ rule: LZWSearch.Rule) throws {
    for seed in UInt64(0)..<40 {
      var random = SplitMix64(seed: seed)
      let colors = [2, 5, 30, 250][Int(seed % 4)] as UInt64
      let noise = random.next() % 40 + 1
      var first: [UInt8] = []
      for place in 0..<20_000 {
        let isNew = place == 0 || random.next() % noise == 0
        first.append(isNew ? UInt8(random.next() % colors) : first[place - 1])
      }
      let second = first.map { random.next() % 3 == 0 ? $0 : UInt8(colors) }
      #expect(try problem(first, second, width: 200, rule) == nil, "seed \(seed)")
      #expect(try problem(second, first, width: 200, rule) == nil, "seed \(seed)")
    }
  }

  @Test("Data longer than the limit is given up")
  func limit() throws {
    var random = SplitMix64(seed: 9)
    let indices = (0..<600_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    var bytes: [UInt8] = []
    var checks = 0
    let result = try LZWSearch().append(
      indices.rawBytes, or: indices.rawBytes, minimumCodeSize: 8, LZWSearch.Rule(lookahead: 0),
      limit: 1000, to: &bytes
    ) {
      checks += 1
      return false
    }
    // Soon after the limit is passed, not at the end of the picture.
    #expect(result.isTooLong && result.wasFull && checks == 2)
    // Long runs make few phrases, so the table is not full yet.
    let runs = (0..<600_000).map { UInt8($0 / 200 % 256) }
    let few = try LZWSearch().append(
      runs.rawBytes, or: runs.rawBytes, minimumCodeSize: 8, LZWSearch.Rule(lookahead: 0),
      limit: 100,
      to: &bytes)
    #expect(few.isTooLong && !few.wasFull)
  }

  @Test("A picture of any size is not compressed for somebody who has left")
  func cancelled() {
    var bytes: [UInt8] = []
    let indices: [UInt8] = [1, 2, 3]
    #expect(throws: AnimatedImageError.self) {
      _ = try LZWSearch().append(
        indices.rawBytes, or: indices.rawBytes, minimumCodeSize: 2, LZWSearch.Rule(lookahead: 0),
        limit: .max, to: &bytes, isCancelled: { true })
    }
  }

  @Test func `a large frame is cancelled while its colours are counted and numbered`() throws {
    let picture = Pictures.make(2048, 1024) { x, y in
      RGBA(red: UInt8(x & 127), green: y & 64 == 0 ? 0 : 255, blue: 7)
    }
    let work = FrameWork(picture: picture, base: nil, rect: PixelRect(picture.size))
    // There are eight polls for the memory, eight for the colours, and then some for the indices.
    for last in [1, 8, 9, 13, 16, 18, 24] {
      var polls = 0
      let error = #expect(throws: AnimatedImageError.self) {
        try GIFFrameSearch(globalTable: [], depth: .estimate).code(work) {
          polls += 1
          return polls == last
        }
      }
      #expect(error?.code == .cancelled && polls == last)
    }
  }
}
