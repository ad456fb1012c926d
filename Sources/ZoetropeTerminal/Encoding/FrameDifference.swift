internal import Zoetrope

/// Where two pictures of the same size differ, row by row.
struct FrameDifference: Sendable {
  /// For each row, the columns from the first difference to past the last.
  private(set) var rows: [Range<Int>]
  /// The bounding box of all differences.
  private(set) var bounds = PixelRect.empty

  /// Every pixel of a picture of `size`.
  init(all size: PixelSize) {
    rows = Array(repeating: 0..<size.width, count: size.height)
    bounds = PixelRect(size)
  }

  /// Known differences, one range per row.
  init(rows: [Range<Int>]) {
    self.rows = rows
    for (y, range) in rows.enumerated() where !range.isEmpty {
      bounds = bounds.union(
        PixelRect(x: range.lowerBound, y: y, width: range.count, height: 1))
    }
  }

  /// Compares two pictures inside `rect`; pixels outside it are assumed equal.
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

  /// The columns from the first difference in any of `lines` to past the last.
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

/// Covers the changed pixels of a picture with few rectangles.
enum ChangedRegions {
  /// At most `limit` rectangles that cover all differences, top to bottom.
  ///
  /// Two are merged when that adds fewer than `worth` unchanged pixels, which would cost about as
  /// many bytes as the overhead of a rectangle.
  static func cover(_ difference: FrameDifference, worth: Int, limit: Int) -> [PixelRect] {
    var regions: [PixelRect] = []
    let bounds = difference.bounds
    for y in bounds.y..<bounds.maxY {
      let range = difference.rows[y]
      if range.isEmpty { continue }
      let line = PixelRect(x: range.lowerBound, y: y, width: range.count, height: 1)
      if let last = regions.last, waste(last, line) < worth {
        regions[regions.count - 1] = last.union(line)
      } else {
        regions.append(line)
      }
    }
    // Rows are merged one by one, so two regions may have become worth merging later.
    while regions.count > 1 {
      var best = 0
      for index in 0..<regions.count - 1
      where waste(regions[index], regions[index + 1]) < waste(regions[best], regions[best + 1]) {
        best = index
      }
      let joined = waste(regions[best], regions[best + 1])
      if joined >= worth && regions.count <= limit { break }
      regions[best] = regions[best].union(regions[best + 1])
      regions.remove(at: best + 1)
    }
    return regions
  }

  private static func waste(_ first: PixelRect, _ second: PixelRect) -> Int {
    first.union(second).size.area - first.size.area - second.size.area
  }
}
