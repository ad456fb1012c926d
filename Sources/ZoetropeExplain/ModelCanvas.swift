import ZoetropeFrames

/// A canvas that simulates the compositing of other programs. Pixels are stored as `RGBA.word`.
///
/// The canvas is a class, because copying a simulation would otherwise copy the pixels for each frame.
final class ModelCanvas {
  let size: PixelSize
  private var pixels: [UInt32]
  /// The areas drawn since the last call of ``firstDifference(from:in:)``. Before the first call, this is the whole
  /// canvas.
  private var touched: [PixelRect]

  /// How a stored pixel is combined with the canvas.
  enum Blending {
    case source
    /// Pixels that are not fully transparent replace the pixels below them. A GIF has no partly transparent pixels.
    case over
    case formula((_ above: RGBA, _ below: RGBA) -> RGBA)
  }

  init(size: PixelSize, fill: UInt32) {
    self.size = size
    pixels = [UInt32](repeating: fill, count: size.area)
    touched = [PixelRect(size)]
  }

  private func clipped(_ rect: PixelRect) -> PixelRect { rect.intersection(PixelRect(size)) }

  func fill(_ rect: PixelRect, with color: UInt32) {
    let rect = clipped(rect)
    touched.append(rect)
    for y in rect.y..<rect.maxY {
      for x in rect.x..<rect.maxX { pixels[y * size.width + x] = color }
    }
  }

  /// Returns the pixels in `rect`, clipped to the canvas, row by row.
  func pixels(in rect: PixelRect) -> [UInt32] {
    let rect = clipped(rect)
    return (rect.y..<rect.maxY).flatMap { y in
      pixels[y * size.width + rect.x..<y * size.width + rect.maxX]
    }
  }

  /// Restores the pixels that ``pixels(in:)`` returned for the same rectangle.
  func restore(_ saved: [UInt32], in rect: PixelRect) {
    let rect = clipped(rect)
    touched.append(rect)
    for y in rect.y..<rect.maxY {
      for x in rect.x..<rect.maxX {
        pixels[y * size.width + x] = saved[(y - rect.y) * rect.width + x - rect.x]
      }
    }
  }

  /// Draws `bitmap` at the top left corner of `rect`.
  func draw(_ bitmap: Bitmap, at rect: PixelRect, blending: Blending) {
    let place = clipped(PixelRect(x: rect.x, y: rect.y, width: bitmap.width, height: bitmap.height))
    touched.append(place)
    for y in place.y..<place.maxY {
      let row = bitmap.pixels(row: y - rect.y)
      for x in place.x..<place.maxX {
        let above = row[x - rect.x]
        let offset = y * size.width + x
        switch blending {
        case .source: pixels[offset] = above.word
        case .over: if above.alpha != 0 { pixels[offset] = above.word }
        case .formula(let blend):
          pixels[offset] = blend(above, RGBA(word: pixels[offset])).word
        }
      }
    }
  }

  /// Returns the first pixel that differs from `bitmap`, or nil if no pixel differs. All fully transparent pixels count
  /// as equal.
  ///
  /// Compares only the areas drawn on this canvas since the last call, and `rects`, the areas of `bitmap` that may have
  /// changed since then. The last call must have found no difference.
  func firstDifference(from bitmap: Bitmap, in rects: [PixelRect]) -> (x: Int, y: Int)? {
    let common = PixelRect(
      x: 0, y: 0, width: min(size.width, bitmap.width), height: min(size.height, bitmap.height))
    var first: (x: Int, y: Int)?
    for rect in touched + rects {
      let rect = rect.intersection(common)
      for y in rect.y..<rect.maxY {
        if let first, first.y < y { break }
        let row = bitmap.pixels(row: y)
        for x in rect.x..<rect.maxX {
          let ours = row[x].alpha == 0 ? 0 : row[x].word
          let theirs = pixels[y * size.width + x]
          guard ours != (theirs >> 24 == 0 ? 0 : theirs) else { continue }
          if first.map({ (y, x) < ($0.y, $0.x) }) ?? true { first = (x, y) }
          break
        }
      }
    }
    touched.removeAll(keepingCapacity: true)
    return first
  }
}
