import Zoetrope
import ZoetropeTerminal

/// Decides which pictures are pixel art. Pixel art is enlarged by whole factors and is not smoothed.
enum PixelArt {
  /// The maximum width and height of pixel art, in pixels.
  static let longestSide = 256
  /// The maximum number of colours in pixel art. Transparent pixels count as one colour.
  static let mostColors = 64
  /// The smallest whole factor by which pixel art is enlarged. If there is only room for a smaller factor, pixel art is
  /// fitted like any other picture.
  static let leastFactor = 2

  /// Returns whether a picture of this size may be pixel art.
  static func canBe(_ size: PixelSize) -> Bool {
    size.width <= longestSide && size.height <= longestSide
  }

  /// Returns whether a picture counts as pixel art, because it is small and has few colours.
  static func isLikely(_ bitmap: Bitmap) -> Bool {
    guard canBe(bitmap.size) else { return false }
    let picture = endingWithoutMemory(try bitmap.converted(to: .rgba8))
    var colors: Set<UInt32> = []
    var last: UInt32?
    for y in 0..<picture.height {
      let row = picture.pixels(row: y)
      for x in 0..<picture.width {
        let color = row[x].alpha == 0 ? 0 : row[x].word
        if color == last { continue }
        last = color
        if colors.insert(color).inserted, colors.count > mostColors { return false }
      }
    }
    return true
  }

  /// Returns whether the first frame of `image` counts as pixel art.
  static func isLikely(_ image: AnimatedImage) -> Bool {
    guard canBe(image.canvasSize), let frame = try? FrameReader(image).next() else { return false }
    return isLikely(frame.bitmap)
  }
}
