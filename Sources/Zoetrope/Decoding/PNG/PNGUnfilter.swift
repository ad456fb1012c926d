/// Undoes the row filters of PNG in place.
///
/// Unsafe code: rows are addressed by pointer. Every access stays inside the `rows` rows of
/// `1 + rowBytes` bytes that start at `base`, plus 8 bytes after the last; callers own `base` and
/// give it that slack.
enum PNGUnfilter {
  /// The filter types, as the first byte of a row names them.
  static let none: UInt8 = 0
  static let sub: UInt8 = 1
  static let up: UInt8 = 2
  static let average: UInt8 = 3
  static let paeth: UInt8 = 4

  /// Unfilters rows from the top until all are done or one has no such filter.
  ///
  /// - Parameters:
  ///   - base: The filter byte of the first row.
  ///   - pixelSize: Bytes in a pixel: 1, 2, 3, 4, 6 or 8.
  /// - Returns: The rows that are done.
  @unsafe
  static func unfilter(
    _ base: UnsafeMutableRawPointer, rows: Int, rowBytes: Int, pixelSize: Int
  ) -> Int {
    switch pixelSize {
    case 1: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, size: 1)
    case 2: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, size: 2)
    case 3: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, size: 3)
    case 4: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, size: 4)
    case 6: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, size: 6)
    default: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, size: 8)
    }
  }

  // Inlined into the switch above, so that `size` is a constant in every loop.
  @inline(__always) @unsafe
  private static func unfilterRows(
    _ base: UnsafeMutableRawPointer, rows: Int, rowBytes: Int, size: Int
  ) -> Int {
    let pitch = rowBytes + 1
    var y = 0
    while y < rows {
      let row = unsafe base + (y * pitch + 1)
      // The row above the first one counts as zero.
      let above = unsafe y > 0 ? row - pitch : nil
      switch unsafe (row - 1).load(as: UInt8.self) {
      case none: break
      case sub: unsafe undoSub(row, count: rowBytes, size: size)
      case up:
        if let above = unsafe above { unsafe undoUp(row, above: above, count: rowBytes) }
      case average: unsafe undoAverage(row, above: above, count: rowBytes, size: size)
      case paeth:
        guard let above = unsafe above else {
          // With nothing above, the nearest of left, 0 and 0 is left.
          unsafe undoSub(row, count: rowBytes, size: size)
          break
        }
        if size == 3 || size == 4, y + 1 < rows,
          unsafe (row + rowBytes).load(as: UInt8.self) == paeth
        {
          unsafe undoPaethPair(row, above: above, count: rowBytes, size: size)
          y += 1
        } else {
          unsafe undoPaeth(row, above: above, count: rowBytes, size: size)
        }
      default: return y
      }
      y += 1
    }
    return rows
  }
}
