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

  /// Makes a rectangle; nothing is checked.
  public init(column: Int, row: Int, columns: Int, rows: Int) {
    self.column = column
    self.row = row
    self.columns = columns
    self.rows = rows
  }

  /// Whether there is no cell in it.
  public var isEmpty: Bool { columns <= 0 || rows <= 0 }
}
