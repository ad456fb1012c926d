import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

@Suite(.timeLimit(.minutes(10)), .computes) struct ColorIndexerTests {
  @Test(arguments: [2, 7, 256, 300])
  func `indices are in the order in which colours occur, whatever repeats`(_ most: Int) throws {
    var random = SplitMix64(seed: UInt64(most))
    let indexer = ColorIndexer()
    for width in 1...41 {
      let height = 12
      let words = Self.words(width, height, most: most, using: &random)
      let bitmap = Pictures.make(width, height) { x, y in RGBA(word: words[y * width + x]) }
      let target = PixelStorage(byteCount: (width + 1) * height)
      var colors: [UInt32] = []
      var rows: [UInt8] = []
      for (place, word) in words.enumerated() {
        if place % width == 0 { rows.append(0) }
        let index = colors.firstIndex(of: word) ?? colors.count
        if index == colors.count { colors.append(word) }
        rows.append(UInt8(truncatingIfNeeded: index))
      }
      guard colors.count <= 256 else {
        #expect(try indexer.index(bitmap, PixelRect(bitmap.size), into: target) == nil)
        continue
      }
      #expect(
        try indexer.index(bitmap, PixelRect(bitmap.size), into: target) == colors, "width \(width)")
      #expect((0..<rows.count).map { target.bytes[$0] } == rows, "width \(width)")
    }
  }

  /// Runs of one colour, parts of rows that repeat the row above, and all of every fourth row.
  private static func words(
    _ width: Int, _ height: Int, most: Int, using random: inout SplitMix64
  ) -> [UInt32] {
    var words: [UInt32] = []
    var above = false
    for place in 0..<width * height {
      if Int.random(in: 0..<10, using: &random) == 0 { above.toggle() }
      let repeatsRow = above || place / width % 4 == 3
      if place >= width, repeatsRow {
        words.append(words[place - width])
      } else if place > 0, Int.random(in: 0..<10, using: &random) > 0, most < 256 {
        words.append(words[place - 1])
      } else {
        words.append(UInt32(Int.random(in: 0..<most, using: &random)) &* 0x0103_0509)
      }
    }
    return words
  }
}
