/// The order of the pixels in an interlaced PNG. There are seven passes, each of which contains a grid of the frame's
/// pixels (PNG 3rd edition, 8.1).
enum Adam7 {
  struct Pass {
    /// The first column and the first row of the pass, and the distances between its columns and between its rows.
    let column, columnStep, row, rowStep: Int

    /// Returns the size of the pass in a frame of size `frame`. The width or the height may be 0.
    func size(of frame: PixelSize) -> PixelSize {
      PixelSize(
        width: max(frame.width - column + columnStep - 1, 0) / columnStep,
        height: max(frame.height - row + rowStep - 1, 0) / rowStep)
    }
  }

  static let passes = [
    Pass(column: 0, columnStep: 8, row: 0, rowStep: 8),
    Pass(column: 4, columnStep: 8, row: 0, rowStep: 8),
    Pass(column: 0, columnStep: 4, row: 4, rowStep: 8),
    Pass(column: 2, columnStep: 4, row: 0, rowStep: 4),
    Pass(column: 0, columnStep: 2, row: 2, rowStep: 4),
    Pass(column: 1, columnStep: 2, row: 0, rowStep: 2),
    last,
  ]

  /// The last pass, which contains every second row of the frame with all its pixels.
  static let last = Pass(column: 0, columnStep: 1, row: 1, rowStep: 2)
}
