public import ZoetropeFrames

/// The size of a terminal's screen in cells, and the size of a cell in pixels.
public struct ScreenSize: Sendable, Hashable {
  /// The number of columns of the whole screen.
  public var columns: Int
  /// The number of rows of the whole screen.
  public var rows: Int
  /// The size of a cell in pixels, which is 8 x 16 if the terminal does not report it.
  public var cell: PixelSize
  /// Whether the terminal reported the size of a cell.
  package var isCellKnown: Bool

  /// Creates a size. A number of columns or rows below 1 becomes 1. If `cell` is nil, empty, or more than 256 pixels
  /// wide or high, the size of a cell is 8 x 16.
  public init(columns: Int, rows: Int, cell: PixelSize? = nil) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    let known = cell.flatMap { $0.isCell ? $0 : nil }
    isCellKnown = known != nil
    self.cell = known ?? PixelSize(width: 8, height: 16)
  }

  /// Creates a size from the window size that the kernel reports.
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

/// A rectangle of character cells. Columns and rows are counted from 0, starting at the top left of the screen.
public struct CellRect: Sendable, Hashable {
  /// The first column of the rectangle.
  public var column: Int
  /// The first row of the rectangle.
  public var row: Int
  /// The number of columns.
  public var columns: Int
  /// The number of rows.
  public var rows: Int

  /// Creates a rectangle. The values are not checked.
  public init(column: Int, row: Int, columns: Int, rows: Int) {
    self.column = column
    self.row = row
    self.columns = columns
    self.rows = rows
  }

  /// Whether the rectangle contains no cell.
  package var isEmpty: Bool { columns <= 0 || rows <= 0 }
}
