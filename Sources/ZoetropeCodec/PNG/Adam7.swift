/// The pixel order of an interlaced PNG: seven passes, each a grid of the frame's pixels (PNG 3rd
/// edition 8.1).
enum Adam7 {
  struct Pass {
    /// The first pixel in a row or column, and the distance from one to the next.
    let column, columnStep, row, rowStep: Int

    /// The size of the pass, of which either side may be 0.
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

  /// Every second row, as a whole.
  static let last = Pass(column: 0, columnStep: 1, row: 1, rowStep: 2)
}
