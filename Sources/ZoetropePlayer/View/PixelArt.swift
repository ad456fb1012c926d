import Zoetrope
import ZoetropeTerminal

/// Decides which pictures are pixel art, which is enlarged by whole factors instead of smoothed.
enum PixelArt {
  /// The longest side of pixel art.
  static let longestSide = 256
  /// The most colours of pixel art, including transparency.
  static let mostColors = 64
  /// The least factor by which it is enlarged; below that, it is fitted like any other picture.
  static let leastFactor = 2

  /// Whether `size` could be that of pixel art.
  static func canBe(_ size: PixelSize) -> Bool {
    size.width <= longestSide && size.height <= longestSide
  }

  /// Whether a picture counts as pixel art: small, with few colours.
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

  /// Whether the first frame of `image` counts as pixel art.
  static func isLikely(_ image: AnimatedImage) -> Bool {
    guard canBe(image.canvasSize), let frame = try? FrameReader(image).next() else { return false }
    return isLikely(frame.bitmap)
  }
}
