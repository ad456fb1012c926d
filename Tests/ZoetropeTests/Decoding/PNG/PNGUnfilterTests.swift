import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct PNGUnfilterTests {
  /// Filtered rows, and what the specification makes of them.
  private func rows(
    _ count: Int, _ rowBytes: Int, pixelSize: Int, filters: [UInt8], _ random: inout SplitMix64
  ) -> (filtered: [UInt8], plain: [[UInt8]]) {
    var filtered: [UInt8] = []
    var plain: [[UInt8]] = []
    var above = [UInt8](repeating: 0, count: rowBytes)
    for _ in 0..<count {
      let filter = filters.randomElement(using: &random) ?? 0
      filtered.append(filter)
      // Small steps as well as noise: predictors tie more often there.
      let limit: UInt8 = Bool.random(using: &random) ? 255 : 3
      var row: [UInt8] = []
      for x in 0..<rowBytes {
        let byte = UInt8.random(in: 0...limit, using: &random)
        filtered.append(byte)
        let left = x >= pixelSize ? row[x - pixelSize] : 0
        let corner = x >= pixelSize ? above[x - pixelSize] : 0
        row.append(byte &+ NaivePNG.predictor(filter, left, above[x], corner))
      }
      plain.append(row)
      above = row
    }
    return (filtered, plain)
  }

  private func unfilter(
    _ bytes: [UInt8], rows: Int, rowBytes: Int, pixelSize: Int
  ) -> (done: Int, bytes: [UInt8]) {
    var memory = bytes + [UInt8](repeating: 0xa5, count: 8)
    let done = unsafe memory.withUnsafeMutableBytes { buffer in
      guard let base = buffer.baseAddress else { return 0 }
      return unsafe PNGUnfilter.unfilter(
        base, rows: rows, rowBytes: rowBytes, pixelSize: pixelSize)
    }
    return (done, memory)
  }

  @Test(arguments: [1, 2, 3, 4, 6, 8], [[0, 1, 2, 3, 4], [4], [4, 4, 4, 2], [3], [1], [2]])
  func `every filter gives what the specification says`(pixelSize: Int, filters: [UInt8]) {
    var random = SplitMix64(seed: UInt64(pixelSize * 8 + filters.count))
    for width in [1, 2, 3, 4, 5, 7, 8, 11, 16, 21, 33] {
      let rowBytes = width * pixelSize
      let (filtered, plain) = rows(
        9, rowBytes, pixelSize: pixelSize, filters: filters, &random)
      let result = unfilter(filtered, rows: 9, rowBytes: rowBytes, pixelSize: pixelSize)
      #expect(result.done == 9)
      for (y, row) in plain.enumerated() {
        let start = y * (rowBytes + 1) + 1
        #expect(Array(result.bytes[start..<start + rowBytes]) == row, "width \(width), row \(y)")
        #expect(result.bytes[start - 1] == filtered[start - 1], "filter bytes are left alone")
      }
      #expect(result.bytes.suffix(8).allSatisfy { $0 == 0xa5 }, "the slack is not written")
    }
  }

  @Test(arguments: [1, 3, 4, 8])
  func `a row with a filter that does not exist ends the work`(pixelSize: Int) {
    var random = SplitMix64(seed: 7)
    let rowBytes = 5 * pixelSize
    for bad in 0..<6 {
      var (filtered, plain) = rows(
        6, rowBytes, pixelSize: pixelSize, filters: [2, 4], &random)
      filtered[bad * (rowBytes + 1)] = 5
      let result = unfilter(filtered, rows: 6, rowBytes: rowBytes, pixelSize: pixelSize)
      #expect(result.done == bad)
      for y in 0..<bad {
        let start = y * (rowBytes + 1) + 1
        #expect(Array(result.bytes[start..<start + rowBytes]) == plain[y])
      }
    }
  }
}
