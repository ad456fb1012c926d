import Zoetrope
import ZoetropeTerminal

/// The zoom of the picture, and the position of its visible part.
struct Viewport: Sendable, Hashable {
  private(set) var zoom = 1.0
  /// The horizontal position of the visible part. It is 0 in the middle, and -1 or 1 at an edge.
  private(set) var x = 0.0
  /// The vertical position of the visible part, likewise from -1 to 1.
  private(set) var y = 0.0

  static let range = 0.05...32.0

  /// Multiplies the zoom by `factor`. The factor 0 resets the zoom and the visible part.
  mutating func zoom(by factor: Double) {
    guard factor != 0 else {
      self = Viewport()
      return
    }
    zoom = min(max(zoom * factor, Self.range.lowerBound), Self.range.upperBound)
  }

  /// Multiplies the zoom by `factor` so that the part of the picture in the given cell stays in place.
  ///
  /// - Parameter layout: A function that returns the layout of a picture of `size` in a viewport.
  mutating func zoom(
    by factor: Double, atColumn column: Int, row: Int, size: PixelSize,
    layout: (Viewport) -> FrameLayout
  ) {
    let before = layout(self)
    zoom(by: factor)
    var middle = self
    (middle.x, middle.y) = (0, 0)
    let after = layout(middle)
    func pan(
      _ cell: Int, _ old: (start: Int, cells: Int, crop: Range<Int>),
      _ new: (start: Int, cells: Int, crop: Range<Int>), _ length: Int
    ) -> Double {
      let free = Double(length - new.crop.count)
      guard free > 0 else { return 0 }
      func fraction(_ start: Int, _ cells: Int) -> Double {
        min(max((Double(cell - start) + 0.5) / Double(max(cells, 1)), 0), 1)
      }
      let place =
        Double(old.crop.lowerBound) + fraction(old.start, old.cells) * Double(old.crop.count)
      let first = place - fraction(new.start, new.cells) * Double(new.crop.count)
      return min(max(2 * first / free - 1, -1), 1)
    }
    let (old, new) = (before.crop ?? PixelRect(size), after.crop ?? PixelRect(size))
    x = pan(
      column, (before.area.column, before.area.columns, old.x..<old.maxX),
      (after.area.column, after.area.columns, new.x..<new.maxX), size.width)
    y = pan(
      row, (before.area.row, before.area.rows, old.y..<old.maxY),
      (after.area.row, after.area.rows, new.y..<new.maxY), size.height)
  }

  /// Moves the visible part by fractions of its width and height. Returns false if it cannot move any further.
  mutating func pan(x right: Double, y down: Double, size: PixelSize, layout: FrameLayout) -> Bool {
    guard let crop = layout.crop else { return false }
    let before = self
    func moved(_ pan: Double, by part: Double, _ visible: Int, of length: Int) -> Double {
      let free = Double(length - visible)
      // The visible part moves by at least one pixel.
      let distance = part == 0 ? 0 : max(abs(part) * Double(visible), 1) * (part < 0 ? -1 : 1)
      return free > 0 ? min(max(pan + 2 * distance / free, -1), 1) : pan
    }
    x = moved(x, by: right, crop.width, of: size.width)
    y = moved(y, by: down, crop.height, of: size.height)
    return self != before
  }
}
