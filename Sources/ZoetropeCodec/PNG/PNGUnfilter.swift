/// Undoes the row filters of PNG in place.
///
/// Unsafe code: rows are addressed by pointer. Every access stays inside the `rows` rows of
/// `1 + rowBytes` bytes that start at `base`, plus 8 bytes after the last; callers own `base` and
/// give it that slack.
package enum PNGUnfilter {
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
  package static func unfilter(
    _ base: UnsafeMutableRawPointer, rows: Int, rowBytes: Int, pixelSize: Int
  ) -> Int {
    switch pixelSize {
    case 1: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, PNGPixel1.self)
    case 2: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, PNGPixel2.self)
    case 3: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, PNGPixel3.self)
    case 4: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, PNGPixel4.self)
    case 6: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, PNGPixel6.self)
    default: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, PNGPixel8.self)
    }
  }

  @unsafe
  private static func unfilterRows<Pixel: PNGPixelSize>(
    _ base: UnsafeMutableRawPointer, rows: Int, rowBytes: Int, _ pixel: Pixel.Type
  ) -> Int {
    let size = Pixel.byteCount
    let pitch = rowBytes + 1
    var y = 0
    while y < rows {
      let row = unsafe base + (y * pitch + 1)
      // The row above the first one counts as zero.
      let above = unsafe y > 0 ? row - pitch : nil
      switch unsafe (row - 1).load(as: UInt8.self) {
      case none: break
      case sub: unsafe undoSub(row, count: rowBytes, pixel)
      case up:
        if let above = unsafe above { unsafe undoUp(row, above: above, count: rowBytes) }
      case average: unsafe undoAverage(row, above: above, count: rowBytes, pixel)
      case paeth:
        guard let above = unsafe above else {
          // With nothing above, the nearest of left, 0 and 0 is left.
          unsafe undoSub(row, count: rowBytes, pixel)
          break
        }
        let isNarrow = size <= 4
        let below = unsafe y + 1 < rows ? (row + (pitch - 1)).load(as: UInt8.self) : none
        if isNarrow, y + 3 < rows, rowBytes >= quadWidth * size,
          unsafe isPaeth(row - 1, rows: 4, pitch: pitch)
        {
          unsafe undoPaethQuad(row, above: above, count: rowBytes, pixel)
          y += 3
        } else if isNarrow, below == paeth {
          unsafe undoPaethPair(row, above: above, count: rowBytes, pixel)
          y += 1
        } else if isNarrow, below == up, y + 2 < rows,
          unsafe (row + (2 * pitch - 1)).load(as: UInt8.self) == paeth
        {
          unsafe undoPaethUpPaeth(row, above: above, count: rowBytes, pixel)
          y += 2
        } else {
          unsafe undoPaeth(row, above: above, count: rowBytes, pixel)
        }
      default: return y
      }
      y += 1
    }
    return rows
  }

  @unsafe
  private static func isPaeth(
    _ filter: UnsafeMutableRawPointer, rows: Int, pitch: Int
  ) -> Bool {
    (0..<rows).allSatisfy { unsafe (filter + $0 * pitch).load(as: UInt8.self) == paeth }
  }
}
