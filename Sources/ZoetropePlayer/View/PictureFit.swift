import Zoetrope
import ZoetropeTerminal

/// The rule by which pictures are fitted into the available room: as requested or, without a request, depending on
/// whether they are pixel art.
struct PictureFit: Sendable, Hashable {
  /// The requested fit. If it is nil, the whole picture is fitted into the room, and pixel art is scaled by a whole
  /// factor.
  var fit: FrameLayout.Fit?
  /// The requested filter. If it is nil, pictures are smoothed, except for pixel art.
  var filter: ScalingFilter?

  /// Returns the layout of a picture of `size`, and the filter with which to scale it. If the filter is nil, the
  /// encoder chooses how to scale.
  func layout(
    of size: PixelSize, isPixelArt: Bool, in room: CellRect, screen: ScreenSize, mode: DrawingMode,
    isCentered: Bool, viewport: Viewport = Viewport()
  ) -> (layout: FrameLayout, filter: ScalingFilter?) {
    func layout(
      _ fit: FrameLayout.Fit, _ grid: (width: Double, height: Double)
    ) -> FrameLayout {
      FrameLayout(
        of: size, in: room, screen: screen, fit: fit, isCentered: isCentered, zoom: viewport.zoom,
        pan: (viewport.x, viewport.y), grid: grid)
    }
    let isCrisp = filter == .nearest || filter == nil && (isPixelArt || fit == .integer)
    let grid = mode.grid(cell: screen.cell).map { grid in
      // A character cell is two squares high. If the picture has an odd number of rows, the factor must therefore be
      // even.
      let isHalved = grid.height > 1 && size.height % 2 == 1
      return isHalved ? (width: grid.width * 2, height: grid.height * 2) : grid
    }
    let chosen: FrameLayout.Fit
    if let fit {
      chosen = fit
    } else if isCrisp, let grid, Self.isSquare(grid),
      Self.factor(size, in: room, screen, mode.grid(cell: screen.cell) ?? grid)
        >= PixelArt.leastFactor
    {
      chosen = .integer
    } else {
      chosen = .fit
    }
    let usesGrid = chosen == .integer && grid.map(Self.isSquare) ?? false
    let result = layout(chosen, usesGrid ? grid ?? (1, 1) : (1, 1))
    let shown = result.crop?.size ?? size
    let isEnlarged =
      result.imageSize.width >= shown.width && result.imageSize.height >= shown.height
    if let filter { return (result, filter) }
    return (result, isCrisp && isEnlarged ? .nearest : nil)
  }

  /// Returns whether a cell is divided into parts that are square enough to represent pixels.
  private static func isSquare(_ grid: (width: Double, height: Double)) -> Bool {
    (0.75...1.34).contains(grid.width / grid.height)
  }

  /// Returns the largest whole factor at which a picture fits into the room.
  private static func factor(
    _ size: PixelSize, in room: CellRect, _ screen: ScreenSize,
    _ grid: (width: Double, height: Double)
  ) -> Int {
    let width = Double(room.columns * screen.cell.width) / (Double(max(size.width, 1)) * grid.width)
    let height =
      Double(room.rows * screen.cell.height) / (Double(max(size.height, 1)) * grid.height)
    return Int(min(width, height))
  }
}
