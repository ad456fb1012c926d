public import Zoetrope

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

/// Where on the screen a picture goes, and which part of it.
public struct FrameLayout: Sendable, Hashable {
  /// How a picture is fitted into its room.
  public enum Fit: String, Sendable, Hashable, CaseIterable {
    /// As large as the whole picture can be.
    case contain
    /// ``contain``, but never above its own size in the terminal's pixels.
    case shrink
    /// Fills the room; what sticks out at two sides is cut off.
    case cover
    /// Its own size in the terminal's pixels, the middle of it when it is larger.
    case original
    /// The largest whole multiple of its own size, or ``contain`` when it is too large.
    case integer
    /// Fills the room, out of shape.
    case stretch
  }

  /// The cells that the picture covers.
  public let area: CellRect
  /// The part of the picture that is shown; nil for all of it.
  public let crop: PixelRect?
  /// Pixels of the terminal that the picture covers, for encoders that draw single pixels.
  public let imageSize: PixelSize

  /// Fits a picture of `size` into `room`, in the middle of it when `isCentered`.
  ///
  /// `zoom` above 1 enlarges round the middle of the picture, moved by `pan` (in shares of the
  /// part that is cut off, -1 to 1).
  public init(
    of size: PixelSize, in room: CellRect, screen: ScreenSize, fit: Fit = .contain,
    isCentered: Bool = true, zoom: Double = 1, pan: (x: Double, y: Double) = (0, 0)
  ) {
    let cell = screen.cell
    let width = Double(max(size.width, 1))
    let height = Double(max(size.height, 1))
    let roomWidth = Double(max(room.columns, 1) * cell.width)
    let roomHeight = Double(max(room.rows, 1) * cell.height)
    let contain = min(roomWidth / width, roomHeight / height)
    var scaleX: Double
    switch fit {
    case .contain, .stretch: scaleX = contain
    case .shrink: scaleX = min(contain, 1)
    case .cover: scaleX = max(roomWidth / width, roomHeight / height)
    case .original: scaleX = 1
    case .integer: scaleX = contain >= 1 ? contain.rounded(.down) : contain
    }
    var scaleY = scaleX
    if fit == .stretch {
      scaleX = roomWidth / width
      scaleY = roomHeight / height
    }
    scaleX *= max(zoom, 0.01)
    scaleY *= max(zoom, 0.01)
    let shownWidth = min(width * scaleX, roomWidth)
    let shownHeight = min(height * scaleY, roomHeight)
    let columns = min(
      max(Int((shownWidth / Double(cell.width)).rounded()), 1), max(room.columns, 1))
    let rows = min(max(Int((shownHeight / Double(cell.height)).rounded()), 1), max(room.rows, 1))
    imageSize = PixelSize(
      width: max(Int(shownWidth.rounded()), 1), height: max(Int(shownHeight.rounded()), 1))
    area = CellRect(
      column: room.column + (isCentered ? (room.columns - columns) / 2 : 0),
      row: room.row + (isCentered ? (room.rows - rows) / 2 : 0), columns: columns, rows: rows)
    let cropWidth = min(max(Int((shownWidth / scaleX).rounded()), 1), max(size.width, 1))
    let cropHeight = min(max(Int((shownHeight / scaleY).rounded()), 1), max(size.height, 1))
    if cropWidth >= size.width, cropHeight >= size.height {
      crop = nil
    } else {
      func place(_ free: Int, _ pan: Double) -> Int {
        Int((Double(free) / 2 * (1 + min(max(pan, -1), 1))).rounded())
      }
      crop = PixelRect(
        x: place(size.width - cropWidth, pan.x), y: place(size.height - cropHeight, pan.y),
        width: cropWidth, height: cropHeight)
    }
  }
}
