import Zoetrope

/// A canvas on which other programs' compositing is worked out: colours as `RGBA.word`.
struct ModelCanvas {
  let size: PixelSize
  private var pixels: [UInt32]

  /// How a stored pixel is put on the canvas.
  enum Blending {
    case source
    /// Visible pixels replace those below; there are no others in a GIF.
    case over
    case formula((_ above: RGBA, _ below: RGBA) -> RGBA)
  }

  init(size: PixelSize, fill: UInt32) {
    self.size = size
    pixels = [UInt32](repeating: fill, count: size.area)
  }

  private func clipped(_ rect: PixelRect) -> PixelRect { rect.intersection(PixelRect(size)) }

  mutating func fill(_ rect: PixelRect, with color: UInt32) {
    let rect = clipped(rect)
    for y in rect.y..<rect.maxY {
      for x in rect.x..<rect.maxX { pixels[y * size.width + x] = color }
    }
  }

  /// The pixels in `rect` on the canvas, row by row.
  func pixels(in rect: PixelRect) -> [UInt32] {
    let rect = clipped(rect)
    return (rect.y..<rect.maxY).flatMap { y in
      pixels[y * size.width + rect.x..<y * size.width + rect.maxX]
    }
  }

  /// Puts back what ``pixels(in:)`` gave for the same rectangle.
  mutating func restore(_ saved: [UInt32], in rect: PixelRect) {
    let rect = clipped(rect)
    for y in rect.y..<rect.maxY {
      for x in rect.x..<rect.maxX {
        pixels[y * size.width + x] = saved[(y - rect.y) * rect.width + x - rect.x]
      }
    }
  }

  /// Draws `bitmap`, whose top left corner lies at that of `rect`.
  mutating func draw(_ bitmap: Bitmap, at rect: PixelRect, blending: Blending) {
    let place = clipped(PixelRect(x: rect.x, y: rect.y, width: bitmap.width, height: bitmap.height))
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

  /// The first pixel that differs from `bitmap`'s; all fully transparent pixels are equal.
  func firstDifference(from bitmap: Bitmap) -> (x: Int, y: Int)? {
    for y in 0..<min(size.height, bitmap.height) {
      let row = bitmap.pixels(row: y)
      for x in 0..<min(size.width, bitmap.width) {
        let ours = row[x].alpha == 0 ? 0 : row[x].word
        let theirs = pixels[y * size.width + x]
        if ours != (theirs >> 24 == 0 ? 0 : theirs) { return (x, y) }
      }
    }
    return nil
  }
}
