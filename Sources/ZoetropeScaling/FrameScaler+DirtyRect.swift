extension FrameScaler {
  /// Returns the rectangle of the target pixels that depend on source pixels in `dirty`. The rectangle is empty if no
  /// target pixel does.
  package func touched(by dirty: PixelRect) -> PixelRect {
    let inside = dirty.intersection(PixelRect(sourceSize))
    guard !inside.isEmpty else { return .empty }
    let columns: Range<Int>
    let rows: Range<Int>
    switch plan {
    case .nothing: return .empty
    case .same: return inside
    case .pick(let columnPicks, let rowPicks):
      columns = Self.span(of: inside.x..<inside.maxX, in: columnPicks)
      rows = Self.span(of: inside.y..<inside.maxY, in: rowPicks)
    case .resample(let axes):
      columns = axes.horizontal.targets(touching: inside.x..<inside.maxX)
      rows = axes.vertical.targets(touching: inside.y..<inside.maxY)
    }
    guard !columns.isEmpty, !rows.isEmpty else { return .empty }
    return PixelRect(
      x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
  }

  /// Returns the indices of the elements of `picks` whose values lie in `range`. The values are in ascending order.
  private static func span(of range: Range<Int>, in picks: [Int32]) -> Range<Int> {
    let first = picks.firstIndex { $0 >= range.lowerBound } ?? picks.count
    let last = picks.firstIndex { $0 >= range.upperBound } ?? picks.count
    return first..<last
  }
}
