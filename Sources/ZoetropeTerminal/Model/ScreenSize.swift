public import Zoetrope

/// The size of a terminal in cells, and of a cell in pixels.
public struct ScreenSize: Sendable, Hashable {
  /// Columns of the whole screen.
  public var columns: Int
  /// Rows of the whole screen.
  public var rows: Int
  /// Pixels of one cell; 8 x 16 where the terminal does not say.
  public var cell: PixelSize
  /// Whether the terminal said how large a cell is.
  public var isCellKnown: Bool

  /// Makes a size; sides below 1 become 1. Without a `cell`, or with an empty one, it is taken to be
  /// 8 x 16.
  public init(columns: Int, rows: Int, cell: PixelSize? = nil) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    let known = cell.flatMap { $0.isEmpty ? nil : $0 }
    isCellKnown = known != nil
    self.cell = known ?? PixelSize(width: 8, height: 16)
  }

  /// What the kernel's window size says.
  ///
  /// Pixels are divided rounding down, since xterm counts its border in.
  public init(columns: Int, rows: Int, pixelWidth: Int, pixelHeight: Int) {
    let known = columns > 0 && rows > 0 && pixelWidth >= columns && pixelHeight >= rows
    self.init(
      columns: columns, rows: rows,
      cell: known
        ? PixelSize(width: pixelWidth / columns, height: pixelHeight / rows) : nil)
  }
}
