/// Functions that build overlays: pictures that produce a given picture when they are drawn over a canvas.
///
/// Overlays have only transparent and opaque pixels, so that no decoder has to blend. (Pillow, for example, multiplies
/// by alpha twice.)
package enum PixelOverlay {
  /// Returns whether an overlay can turn `base` into `picture` inside `rect` and has at least one transparent pixel.
  /// This is the case if every pixel of `picture` is opaque or equal to that of `base`, and at least one is equal.
  package static func isPossible(
    _ picture: Bitmap, over base: Bitmap, in rect: PixelRect
  ) -> Bool {
    var unchanged = false
    for y in rect.y..<rect.maxY {
      let (row, below) = (picture.row(y), base.row(y))
      for x in rect.x..<rect.maxX {
        let word = row.load(UInt32.self, at: x &* 4)
        let under = below.load(UInt32.self, at: x &* 4)
        if word == under {
          unchanged = true
        } else if word >> 24 != 255 {
          return false
        }
      }
    }
    return unchanged
  }

  /// Returns whether a pixel format with a transparent colour can store the pixels of `rect`. It can if each pixel is
  /// either transparent, or opaque and of a colour other than `clear`.
  ///
  /// - Parameter clear: The transparent colour, as ``word(_:bitDepth:)`` returns it.
  static func isPossible(_ picture: Bitmap, in rect: PixelRect, clear: UInt64) -> Bool {
    picture.format == .rgba16
      ? holds(picture, rect, UInt64.self, clear: clear)
      : holds(picture, rect, UInt32.self, clear: UInt32(truncatingIfNeeded: clear))
  }

  private static func holds<Word: FixedWidthInteger & BitwiseCopyable>(
    _ picture: Bitmap, _ rect: PixelRect, _ type: Word.Type, clear: Word
  ) -> Bool {
    let size = MemoryLayout<Word>.size
    let alpha = Word.max << Word(Word.bitWidth / 4 * 3)
    for y in rect.y..<rect.maxY {
      let row = picture.row(y)
      var holds = true
      for x in rect.x..<rect.maxX {
        let word = row.load(type, at: x &* size)
        holds = holds && (word & alpha == 0 || (word & alpha == alpha && word != clear | alpha))
      }
      guard holds else { return false }
    }
    return true
  }

  /// Returns the pixels of `picture` in `rect` as a separate picture, in which the pixels that equal those of `base`
  /// are transparent.
  ///
  /// - Parameter clear: The value of transparent pixels.
  static func picture(
    _ picture: Bitmap, over base: Bitmap?, in rect: PixelRect, clear: UInt64
  ) throws(AnimatedImageError) -> Bitmap {
    picture.format == .rgba16
      ? try overlay(picture, base, rect, UInt64.self, clear: clear)
      : try overlay(picture, base, rect, UInt32.self, clear: UInt32(truncatingIfNeeded: clear))
  }

  private static func overlay<Word: FixedWidthInteger & BitwiseCopyable>(
    _ picture: Bitmap, _ base: Bitmap?, _ rect: PixelRect, _ type: Word.Type, clear: Word
  ) throws(AnimatedImageError) -> Bitmap {
    var buffer = try PixelBuffer(asking: rect.size, format: picture.format, zeroed: false)
    let stride = buffer.bytesPerRow
    let size = MemoryLayout<Word>.size
    let alpha = Word.max << Word(Word.bitWidth / 4 * 3)
    var target = buffer.mutableBytes
    for y in 0..<rect.height {
      let row = picture.row(rect.y + y)
      for x in 0..<rect.width {
        let word = row.load(type, at: (rect.x &+ x) &* size)
        target.storeBytes(
          of: word & alpha == 0 ? clear : word, toByteOffset: y &* stride &+ x &* size, as: type)
      }
      guard let base else { continue }
      let below = base.row(rect.y + y)
      for x in 0..<rect.width
      where row.load(type, at: (rect.x &+ x) &* size) == below.load(type, at: (rect.x &+ x) &* size)
      {
        target.storeBytes(of: clear, toByteOffset: y &* stride &+ x &* size, as: type)
      }
    }
    return buffer.finish()
  }

  /// Returns the pixel whose colour is `key`, the samples of a transparent colour: one sample for grey, three for RGB.
  static func word(_ key: [UInt16], bitDepth: Int) -> UInt64 {
    let samples = key.count == 1 ? [key[0], key[0], key[0]] : key
    return samples.enumerated().reduce(0) {
      $0 | UInt64($1.element) << ($1.offset * (bitDepth == 16 ? 16 : 8))
    }
  }
}
