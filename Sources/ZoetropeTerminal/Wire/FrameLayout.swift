public import ZoetropeFrames

/// The place of a picture on the screen, and the part of the picture that is shown.
public struct FrameLayout: Sendable, Hashable {
  /// A way to fit a picture into the available cells.
  public struct Fit: OpenChoice, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, CaseIterable, Sendable {
      case fit, shrink, fill, original, integer, stretch
    }

    package let kind: Kind
    package init(_ kind: Kind) { self.kind = kind }

    /// Makes the picture as large as possible, with the whole picture visible.
    public static let fit = Fit(.fit)
    /// Fits the picture like ``fit``, but never makes it larger than its own size in the terminal's pixels.
    public static let shrink = Fit(.shrink)
    /// Fills the available cells, and cuts off the parts of the picture that extend past them.
    public static let fill = Fit(.fill)
    /// Shows the picture at its own size in the terminal's pixels. If the picture is too large, only its middle is
    /// shown.
    public static let original = Fit(.original)
    /// Enlarges the picture to the largest whole multiple of its own size that fits. If a zoom is given, the zoomed
    /// size is also a whole multiple. If even the picture's own size does not fit, the picture is fitted like
    /// ``fit``.
    public static let integer = Fit(.integer)
    /// Fills the available cells, without keeping the aspect ratio.
    public static let stretch = Fit(.stretch)
  }

  /// The maximum number of columns, and of rows, of a picture.
  package static let longestSide = 1000

  /// The cells that the picture covers.
  public let area: CellRect
  /// The part of the picture that is shown, or nil for the whole picture.
  package let crop: PixelRect?
  /// The size of the shown picture in the terminal's pixels, for encoders that draw single pixels.
  package let imageSize: PixelSize

  /// Fits a picture of `size` into `room`.
  ///
  /// A `zoom`, `pan` or `grid` that is not finite counts as the default.
  ///
  /// - Parameters:
  ///   - size: The size of the picture.
  ///   - room: The cells that may be used. At most 1000 columns and rows of them are used.
  ///   - screen: The terminal's screen, which determines the size of a cell.
  ///   - fit: The way to fit the picture. Default: ``Fit/fit``.
  ///   - isCentered: Whether to place the picture in the middle of `room` instead of at the top left. Default: true.
  ///   - zoom: A factor that is applied after `fit`. Above 1, the middle of the picture is enlarged, and the edges are
  ///     cut off. Default: 1.
  ///   - pan: How far the visible part moves from the middle towards an edge, from -1 to 1 for each axis. Default: 0,
  ///     the middle.
  ///   - grid: The unit of ``Fit/integer``, which is the size, in the terminal's pixels, of the smallest square that
  ///     can be drawn. Default: one pixel.
  public init(
    of size: PixelSize, in room: CellRect, screen: ScreenSize, fit: Fit = .fit,
    isCentered: Bool = true, zoom: Double = 1, pan: (x: Double, y: Double) = (0, 0),
    grid: (width: Double, height: Double) = (1, 1)
  ) {
    let cell = screen.cell
    // Numbers that are larger than those of any terminal and any picture are limited, so that no calculation overflows.
    func cells(_ number: Int) -> Int { min(max(number, 0), Int(UInt16.max)) }
    func pixels(_ number: Int) -> Int { min(max(number, 1), Int(Int32.max)) }
    let room = CellRect(
      column: cells(room.column), row: cells(room.row), columns: cells(room.columns),
      rows: cells(room.rows))
    let size = PixelSize(width: pixels(size.width), height: pixels(size.height))
    let roomColumns = min(max(room.columns, 1), Self.longestSide)
    let roomRows = min(max(room.rows, 1), Self.longestSide)
    let zoom = zoom.isFinite ? max(zoom, 0.01) : 1
    let grid =
      (grid.width > 0 && grid.width.isFinite && grid.height > 0 && grid.height.isFinite)
      ? grid : (width: 1, height: 1)
    let width = Double(size.width)
    let height = Double(size.height)
    let roomWidth = Double(roomColumns * cell.width)
    let roomHeight = Double(roomRows * cell.height)
    let fitted = min(roomWidth / width, roomHeight / height)
    var scaleX: Double
    switch fit.kind {
    case .fit, .stretch: scaleX = fitted
    case .shrink: scaleX = min(fitted, 1)
    case .fill: scaleX = max(roomWidth / width, roomHeight / height)
    case .original: scaleX = 1
    case .integer: scaleX = fitted
    }
    var scaleY = scaleX
    if fit == .stretch {
      scaleX = roomWidth / width
      scaleY = roomHeight / height
    }
    scaleX *= zoom
    scaleY *= zoom
    var shownWidth = min(width * scaleX, roomWidth)
    var shownHeight = min(height * scaleY, roomHeight)
    var rounding = FloatingPointRoundingRule.toNearestOrAwayFromZero
    let multiple = min(roomWidth / (width * grid.width), roomHeight / (height * grid.height))
    let factor = (multiple.rounded(.down) * zoom).rounded()
    if fit == .integer, multiple >= 1, factor >= 1 {
      (scaleX, scaleY) = (factor * grid.width, factor * grid.height)
      // Show only whole pixels of the picture.
      shownWidth = min(
        min(width, max((roomWidth / scaleX).rounded(.down), 1)) * scaleX, roomWidth)
      shownHeight = min(
        min(height, max((roomHeight / scaleY).rounded(.down), 1)) * scaleY, roomHeight)
      rounding = .up
    }
    let columns = min(
      max(Int((shownWidth / Double(cell.width)).rounded(rounding)), 1), roomColumns)
    let rows = min(
      max(Int((shownHeight / Double(cell.height)).rounded(rounding)), 1), roomRows)
    imageSize = PixelSize(
      width: max(Int(shownWidth.rounded()), 1), height: max(Int(shownHeight.rounded()), 1))
    area = CellRect(
      column: room.column + (isCentered ? (room.columns - columns) / 2 : 0),
      row: room.row + (isCentered ? (room.rows - rows) / 2 : 0), columns: columns, rows: rows)
    let cropWidth = min(max(Int((shownWidth / scaleX).rounded()), 1), size.width)
    let cropHeight = min(max(Int((shownHeight / scaleY).rounded()), 1), size.height)
    if cropWidth >= size.width, cropHeight >= size.height {
      crop = nil
    } else {
      func place(_ free: Int, _ pan: Double) -> Int {
        Int((Double(free) / 2 * (1 + (pan.isNaN ? 0 : min(max(pan, -1), 1)))).rounded())
      }
      crop = PixelRect(
        x: place(size.width - cropWidth, pan.x), y: place(size.height - cropHeight, pan.y),
        width: cropWidth, height: cropHeight)
    }
  }
}
