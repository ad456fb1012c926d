public import ZoetropeFrames

/// The size of a terminal in cells, and of a cell in pixels.
public struct ScreenSize: Sendable, Hashable {
  /// Columns of the whole screen.
  public var columns: Int
  /// Rows of the whole screen.
  public var rows: Int
  /// The size of a cell in pixels; 8 x 16 where the terminal does not report it.
  public var cell: PixelSize
  /// Whether the terminal reported the size of a cell.
  package var isCellKnown: Bool

  /// Creates a size; sides below 1 become 1. A `cell` that is missing, empty or more than 256 pixels wide or
  /// high becomes 8 x 16.
  public init(columns: Int, rows: Int, cell: PixelSize? = nil) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    let known = cell.flatMap { $0.isCell ? $0 : nil }
    isCellKnown = known != nil
    self.cell = known ?? PixelSize(width: 8, height: 16)
  }

  /// Creates a size from the kernel's window size.
  ///
  /// The size of a cell is rounded down, because xterm includes its border in the pixel size.
  public init(columns: Int, rows: Int, pixelWidth: Int, pixelHeight: Int) {
    let known = columns > 0 && rows > 0 && pixelWidth >= columns && pixelHeight >= rows
    self.init(
      columns: columns, rows: rows,
      cell: known
        ? PixelSize(width: pixelWidth / columns, height: pixelHeight / rows) : nil)
  }
}

/// A rectangle of character cells; column and row count from 0 at the screen's top left.
public struct CellRect: Sendable, Hashable {
  /// The first column inside.
  public var column: Int
  /// The first row inside.
  public var row: Int
  /// Columns.
  public var columns: Int
  /// Rows.
  public var rows: Int

  /// Creates a rectangle; no value is checked.
  public init(column: Int, row: Int, columns: Int, rows: Int) {
    self.column = column
    self.row = row
    self.columns = columns
    self.rows = rows
  }

  /// Whether it contains no cell.
  package var isEmpty: Bool { columns <= 0 || rows <= 0 }
}
