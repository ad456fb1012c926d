/// The areas in which two pictures of the same size and format differ, row by row.
///
/// The bytes of the pixels are compared, so the colours of transparent pixels count too.
package struct PixelDifference: Sendable {
  /// For each row of the picture, the columns from the first difference to the last, or an empty range.
  package private(set) var rows: [Range<Int>]
  /// The bounding box of all differences, which is empty if there are none.
  package private(set) var bounds = PixelRect.empty

  /// Creates a value from known differences, one range of columns for each row.
  package init(rows: [Range<Int>]) {
    self.rows = rows
    for (y, columns) in rows.enumerated() where !columns.isEmpty {
      bounds = bounds.union(PixelRect(x: columns.lowerBound, y: y, width: columns.count, height: 1))
    }
  }

  /// Compares two pictures inside `rect`. Pixels outside `rect` are assumed to be equal.
  ///
  /// - Precondition: Both pictures have the same size and format.
  package init(from old: Bitmap, to new: Bitmap, within rect: PixelRect) {
    let area = Self.area(old, new, rect)
    var rows = Array(repeating: 0..<0, count: new.height)
    for y in area.y..<area.maxY {
      rows[y] = Self.columns(old, new, row: y, area.x..<area.maxX)
    }
    self.init(rows: rows)
  }

  /// Returns the bounding box of the differences inside `rect`. Few of the pixels inside the box are read.
  ///
  /// - Parameter rect: The area in which pixels may differ, or nil if they may differ anywhere.
  /// - Returns: The box, or the whole picture if `old` and `new` differ in size or format.
  package static func bounds(
    from old: Bitmap, to new: Bitmap, within rect: PixelRect? = nil
  ) -> PixelRect {
    guard
      let box = try? bounds(from: old, to: new, within: rect, isCancelled: { false })
    else { preconditionFailure("a comparison that nothing cancels") }
    return box
  }

  /// Does the same as ``bounds(from:to:within:)``, but throws `cancelled` once `isCancelled` returns true.
  package static func bounds(
    from old: Bitmap, to new: Bitmap, within rect: PixelRect? = nil, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> PixelRect {
    let all = PixelRect(new.size)
    guard old.size == new.size, old.format == new.format else { return all }
    let area = area(old, new, rect ?? all)
    func columns(_ y: Int, _ range: Range<Int>) -> Range<Int> {
      Self.columns(old, new, row: y, range)
    }
    var (top, end) = (area.y, area.maxY)
    while top < end, columns(top, area.x..<area.maxX).isEmpty {
      try area.poll(row: top, isCancelled)
      top += 1
    }
    guard top < end else { return .empty }
    // Row `top` differs, so this loop ends.
    while columns(end - 1, area.x..<area.maxX).isEmpty {
      try area.poll(row: end - 1, isCancelled)
      end -= 1
    }
    var (left, right) = (area.maxX, area.x)
    for y in top..<end {
      try area.poll(row: y, isCancelled)
      // Only differences outside the current box can make it wider.
      let outside = columns(y, area.x..<left)
      if !outside.isEmpty { left = outside.lowerBound }
      right = max(right, columns(y, max(left, right)..<area.maxX).upperBound)
    }
    return PixelRect(x: left, y: top, width: right - left, height: end - top)
  }

  /// Returns the columns from the first difference to the last in any of `lines`.
  package func columns(inRows lines: Range<Int>) -> Range<Int> {
    let columns = rows[lines].filter { !$0.isEmpty }
    let (low, high) = (columns.map(\.lowerBound).min(), columns.map(\.upperBound).max())
    return (low ?? 0)..<(high ?? 0)
  }

  /// Returns the part of `rect` in which the pictures can differ.
  private static func area(_ old: Bitmap, _ new: Bitmap, _ rect: PixelRect) -> PixelRect {
    precondition(old.size == new.size && old.format == new.format)
    return old.storage === new.storage ? .empty : rect.intersection(PixelRect(new.size))
  }

  /// Returns the columns inside `range` from the first difference to the last in row `y`.
  private static func columns(
    _ old: Bitmap, _ new: Bitmap, row y: Int, _ range: Range<Int>
  ) -> Range<Int> {
    let pixel = new.format.bytesPerPixel
    let bytes = range.lowerBound * pixel..<range.upperBound * pixel
    let before = old.row(y).extracting(bytes)
    let after = new.row(y).extracting(bytes)
    // Most rows are equal, which memcmp detects fastest.
    if before.hasSameBytes(as: after) { return 0..<0 }
    // At least one byte differs, so each of these loops ends. Words are read only inside the row.
    var low = 0
    while low <= bytes.count - 8,
      before.load(UInt64.self, at: low) == after.load(UInt64.self, at: low)
    { low += 8 }
    while before[low] == after[low] { low += 1 }
    var high = bytes.count
    while high >= 8,
      before.load(UInt64.self, at: high - 8) == after.load(UInt64.self, at: high - 8)
    { high -= 8 }
    while before[high - 1] == after[high - 1] { high -= 1 }
    return range.lowerBound + low / pixel..<range.lowerBound + (high + pixel - 1) / pixel
  }
}
