import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI

@Suite(.timeLimit(.minutes(10))) struct SheetLayoutTests {
  private let cell = PixelSize(width: 10, height: 5)

  @Test(arguments: [
    (1, 1, 1), (2, 1, 2), (3, 2, 2), (8, 2, 4), (24, 4, 6), (100, 8, 13), (7, 2, 4),
  ])
  func `one input's sheet is about square`(_ count: Int, _ columns: Int, _ rows: Int) {
    let layout = SheetLayout(counts: [count], cell: cell)
    #expect(layout.columns == columns)
    #expect(layout.size == PixelSize(width: columns * 10, height: rows * 5))
  }

  @Test func `every input begins a row, and padding is everywhere`() {
    let layout = SheetLayout(counts: [3, 1, 4], cell: cell, columns: 2, padding: 3, labelHeight: 9)
    #expect(layout.size == PixelSize(width: 2 * 13 + 3, height: 5 * 17 + 3))
    #expect(
      layout.rect(ofFrame: 0, input: 0, size: cell) == PixelRect(x: 3, y: 3, width: 10, height: 5))
    #expect(layout.rect(ofFrame: 2, input: 0, size: cell).y == 3 + 17)
    #expect(layout.rect(ofFrame: 0, input: 1, size: cell).y == 3 + 2 * 17)
    #expect(layout.rect(ofFrame: 3, input: 2, size: cell).x == 3 + 13)
    #expect(layout.rect(ofFrame: 3, input: 2, size: cell).y == 3 + 4 * 17)
    #expect(
      layout.labelRect(ofFrame: 0, input: 0) == PixelRect(x: 3, y: 8, width: 10, height: 9))
    let small = PixelSize(width: 4, height: 3)
    #expect(
      layout.rect(ofFrame: 0, input: 0, size: small) == PixelRect(x: 6, y: 4, width: 4, height: 3))
  }

  @Test func `several inputs have the columns of the longest`() {
    #expect(SheetLayout(counts: [3, 12, 4], cell: cell).columns == 12)
    #expect(SheetLayout(counts: [3, 2], cell: cell, columns: 9).columns == 3)
  }

  @Test func `a sheet whose size would overflow is too large`() {
    let layout = SheetLayout(
      counts: [1 << 40], cell: PixelSize(width: 65535, height: 65535), columns: 1)
    #expect(layout.size.area > 1 << 50)
  }

  @Test(arguments: [
    (SheetLabel.index, 12, 0, "12"), (.time, 0, 0, "0s"), (.time, 3, 40, "0.04s"),
    (.time, 3, 1500, "1.5s"), (.time, 3, 59_999, "59.999s"), (.time, 3, 62_500, "1m02.5s"),
    (.time, 3, 671_000, "11m11s"), (.none, 3, 40, ""),
  ])
  func `labels are short`(
    _ label: SheetLabel, _ index: Int, _ milliseconds: Int, _ text: String
  ) {
    let time = Duration.milliseconds(milliseconds)
    let decimals = SheetLabel.decimals(of: time)
    #expect(label.text(index: index, time: time, decimals: decimals) == text)
    for letter in text { #expect(SheetFont.rows(of: letter)?.count == SheetFont.height) }
  }

  @Test(arguments: [
    (0, 1, "0.0s"), (900, 1, "0.9s"), (1000, 2, "1.00s"), (61_000, 3, "1m01.000s"),
  ])
  func `times have as many decimals as asked for`(
    _ milliseconds: Int, _ decimals: Int, _ text: String
  ) {
    let time = Duration.milliseconds(milliseconds)
    #expect(SheetLabel.time.text(index: 0, time: time, decimals: decimals) == text)
  }

  @Test func `letters differ, and none is wider than its place`() throws {
    let letters = try "0123456789.ms".map { try #require(SheetFont.rows(of: $0)) }
    #expect(Set(letters).count == 13)
    for rows in letters {
      #expect(rows.allSatisfy { $0 < 32 })
      #expect(rows.contains { $0 != 0 })
    }
    #expect(SheetFont.width(of: "") == 0)
    #expect(SheetFont.width(of: "12") == 11)
  }

  @Test func `the frames least alike are chosen, in order`() throws {
    func picture(_ value: UInt8) -> Bitmap {
      Bitmap.drawn(size: PixelSize(width: 4, height: 4)) { _, row in
        for x in 0..<16 {
          row.storeBytes(of: x % 4 == 3 ? 255 : value, toByteOffset: x, as: UInt8.self)
        }
      }
    }
    var distinct = DistinctFrames()
    #expect(distinct.choose(3).isEmpty)
    for value: UInt8 in [0, 0, 5, 200, 200, 100, 0] {
      try distinct.add(picture(value))
    }
    #expect(distinct.choose(1) == [0])
    #expect(distinct.choose(2) == [0, 3])
    #expect(distinct.choose(3) == [0, 3, 5])
    // The others are copies of these.
    #expect(distinct.choose(7) == [0, 2, 3, 5])
  }
}
