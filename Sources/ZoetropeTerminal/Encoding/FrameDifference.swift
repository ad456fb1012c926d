internal import Zoetrope

/// Where two pictures of the same size differ, line by line.
struct FrameDifference: Sendable {
  /// For each row of the picture the columns from the first to past the last difference.
  private(set) var rows: [Range<Int>]
  /// The smallest rectangle round all differences.
  private(set) var bounds = PixelRect.empty

  /// Every pixel of a picture of `size`.
  init(all size: PixelSize) {
    rows = Array(repeating: 0..<size.width, count: size.height)
    bounds = PixelRect(size)
  }

  /// Differences found elsewhere, one range for each row.
  init(rows: [Range<Int>]) {
    self.rows = rows
    for (y, range) in rows.enumerated() where !range.isEmpty {
      bounds = bounds.union(
        PixelRect(x: range.lowerBound, y: y, width: range.count, height: 1))
    }
  }

  /// Compares inside `rect`; pixels outside are taken as equal.
  ///
  /// - Precondition: both pictures have the same size and 4 bytes a pixel.
  init(from old: Bitmap, to new: Bitmap, within rect: PixelRect) {
    rows = Array(repeating: 0..<0, count: new.height)
    let area = rect.intersection(PixelRect(new.size))
    var left = Int.max
    var right = 0
    var top = -1
    var bottom = 0
    for y in area.y..<area.maxY {
      let range = Self.difference(old, new, row: y, area.x..<area.maxX)
      if range.isEmpty { continue }
      rows[y] = range
      left = min(left, range.lowerBound)
      right = max(right, range.upperBound)
      if top < 0 { top = y }
      bottom = y + 1
    }
    if top >= 0 {
      bounds = PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }
  }

  /// The columns from the first to past the last difference in any of `lines`.
  func columns(inRows lines: Range<Int>) -> Range<Int> {
    var low = Int.max
    var high = 0
    for y in lines where !rows[y].isEmpty {
      low = min(low, rows[y].lowerBound)
      high = max(high, rows[y].upperBound)
    }
    return low < high ? low..<high : 0..<0
  }

  private static func difference(
    _ old: Bitmap, _ new: Bitmap, row y: Int, _ columns: Range<Int>
  ) -> Range<Int> {
    let range = columns.lowerBound * 4..<columns.upperBound * 4
    let before = old.row(y).extracting(range)
    let after = new.row(y).extracting(range)
    if before.hasSameBytes(as: after) { return 0..<0 }
    let left = old.pixels(row: y)
    let right = new.pixels(row: y)
    var low = columns.lowerBound
    while low < columns.upperBound, left[low].word == right[low].word { low += 1 }
    var high = columns.upperBound
    while high > low, left[high - 1].word == right[high - 1].word { high -= 1 }
    return low..<high
  }
}
