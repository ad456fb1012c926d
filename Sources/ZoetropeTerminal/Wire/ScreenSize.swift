public import ZoetropeFrames

/// The size of a terminal's screen in cells, and the size of a cell in pixels.
public struct ScreenSize: Sendable, Hashable {
  /// The number of columns of the whole screen. A number below 1 becomes 1.
  public var columns: Int { didSet { columns = max(columns, 1) } }
  /// The number of rows of the whole screen. A number below 1 becomes 1.
  public var rows: Int { didSet { rows = max(rows, 1) } }
  /// The size of a cell in pixels, which is 8 x 16 if the terminal does not report it. A size that is empty, or more
  /// than 256 pixels wide or high, becomes 8 x 16.
  public var cell: PixelSize {
    didSet {
      isCellKnown = cell.isCell
      if !isCellKnown { cell = Self.assumedCell }
    }
  }
  /// Whether the terminal reported the size of a cell.
  package var isCellKnown: Bool
  private static let assumedCell = PixelSize(width: 8, height: 16)

  /// Creates a size. A number of columns or rows below 1 becomes 1. If `cell` is nil, empty, or more than 256 pixels
  /// wide or high, the size of a cell is 8 x 16.
  public init(columns: Int, rows: Int, cell: PixelSize? = nil) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    let known = cell.flatMap { $0.isCell ? $0 : nil }
    isCellKnown = known != nil
    self.cell = known ?? Self.assumedCell
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

/// The size that the kernel reports for a terminal. The size in pixels is 0 if it is unknown, and may include a border.
package typealias WindowSize = (columns: Int, rows: Int, pixelWidth: Int, pixelHeight: Int)

extension ScreenSize {
  /// Creates a size from the size that the kernel reports.
  package init(_ size: WindowSize) {
    self.init(
      columns: size.columns, rows: size.rows, pixelWidth: size.pixelWidth,
      pixelHeight: size.pixelHeight)
  }

  /// Creates a size from `now`, the size that the kernel reports, and `cell`, the size of a cell that the terminal
  /// reported. If `cell` is nil, the size of a cell is computed from `now`.
  ///
  /// The terminal's report is exact, but older than `now`. If the font has changed since, `now` tells by how much.
  ///
  /// - Parameter start: The size that the kernel reported when the terminal reported `cell`.
  package init(_ now: WindowSize, cell: PixelSize?, reportedAt start: WindowSize) {
    guard let cell else {
      self.init(now)
      return
    }
    let size = PixelSize(
      width: Self.side(
        cell.width, (start.columns, start.pixelWidth), (now.columns, now.pixelWidth)),
      height: Self.side(
        cell.height, (start.rows, start.pixelHeight), (now.rows, now.pixelHeight)))
    self.init(columns: now.columns, rows: now.rows, cell: size.isCell ? size : cell)
  }

  /// Returns a side of a cell that was `side` when `start.cells` cells took `start.pixels` pixels.
  private static func side(
    _ side: Int, _ start: (cells: Int, pixels: Int), _ now: (cells: Int, pixels: Int)
  ) -> Int {
    guard side > 0, start.cells > 0, now.cells > 0, start.pixels >= start.cells,
      now.pixels >= now.cells
    else { return side }
    let border = start.pixels - start.cells * side
    guard (0..<8 * side).contains(border) else {
      // The kernel's pixels are not those of the terminal, as on screens of high density.
      let (before, after) = (start.pixels / start.cells, now.pixels / now.cells)
      return before == after ? side : (side * after + before / 2) / before
    }
    // Pixels that no cell covers come and go as the window is resized, but they are fewer than a cell.
    if abs(now.pixels - now.cells * side - border) < side { return side }
    return (now.pixels - border) / now.cells
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
