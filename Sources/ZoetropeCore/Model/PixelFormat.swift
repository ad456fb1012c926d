/// The memory layout of the pixels of a ``Bitmap``.
///
/// The name lists the channels in memory order. Alpha is straight unless the name says
/// *Premultiplied*. Multi-byte channels are in the machine's byte order.
public struct PixelFormat: Sendable, Hashable {
  package let kind: Kind

  package enum Kind: UInt8, Sendable {
    // Raw values are stored in tables on disk: append only.
    case rgba8, rgba8Premultiplied, bgra8, rgbx8, rgb565, grey8, rgba16, bgra8Premultiplied

    /// Whether the colours are multiplied by alpha.
    package var isPremultiplied: Bool { self == .rgba8Premultiplied || self == .bgra8Premultiplied }
  }

  /// Red, green, blue, alpha; 8 bits each, straight alpha. The decoder's output format.
  public static let rgba8 = PixelFormat(kind: .rgba8)
  /// Like ``rgba8``, with each colour multiplied by alpha and rounded to nearest.
  public static let rgba8Premultiplied = PixelFormat(kind: .rgba8Premultiplied)
  /// Blue, green, red, alpha; 8 bits each, straight alpha.
  public static let bgra8 = PixelFormat(kind: .bgra8)
  /// Like ``bgra8``, with each colour multiplied by alpha and rounded to nearest.
  public static let bgra8Premultiplied = PixelFormat(kind: .bgra8Premultiplied)
  /// Like ``rgba8``, blended over black; the fourth byte is 255.
  public static let rgbx8 = PixelFormat(kind: .rgbx8)
  /// 5 bits red, 6 green, 5 blue in one 16-bit word, blended over black, red in the top bits.
  public static let rgb565 = PixelFormat(kind: .rgb565)
  /// One byte of luma (BT.709 weights on the coded values), blended over black.
  public static let grey8 = PixelFormat(kind: .grey8)
  /// Red, green, blue, alpha; 16 bits each, straight alpha.
  public static let rgba16 = PixelFormat(kind: .rgba16)

  /// All formats.
  package static let all: [PixelFormat] = [
    .rgba8, .rgba8Premultiplied, .bgra8, .bgra8Premultiplied, .rgbx8, .rgb565, .grey8, .rgba16,
  ]

  /// Bytes per pixel.
  public var bytesPerPixel: Int {
    switch kind {
    case .rgba8, .rgba8Premultiplied, .bgra8, .bgra8Premultiplied, .rgbx8: 4
    case .rgb565: 2
    case .grey8: 1
    case .rgba16: 8
    }
  }

  /// Whether channels or pixels are 16-bit words in the machine's byte order.
  package var hasWords: Bool { self == .rgb565 || self == .rgba16 }

  /// Returns the bytes from one row to the next for rows of `width` pixels: a multiple of 64, clamped to the largest
  /// such `Int`.
  package func bytesPerRow(width: Int) -> Int {
    (min(max(width, 1), (Int.max - 63) / bytesPerPixel) * bytesPerPixel + 63) & ~63
  }
}

extension PixelFormat {
  /// Returns the size in memory, in bytes, of a picture of `size`.
  package func cost(of size: PixelSize) -> Int {
    max(bytesPerRow(width: size.width) * size.height, 64)
  }
}

extension PixelFormat: CustomStringConvertible {
  /// The format's name, as spelled in code.
  public var description: String { String(describing: kind) }
}

/// One pixel with 8 bits per channel and straight (not premultiplied) alpha. Red comes first in memory.
@frozen
public struct RGBA: BitwiseCopyable, Sendable, Hashable {
  /// Red, 0 to 255.
  public var red: UInt8
  /// Green, 0 to 255.
  public var green: UInt8
  /// Blue, 0 to 255.
  public var blue: UInt8
  /// Opacity, 0 (transparent) to 255 (opaque).
  public var alpha: UInt8

  /// Creates a pixel, opaque by default.
  @inlinable
  public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }

  /// Transparent black, the initial contents of a canvas.
  package static let clear = RGBA(red: 0, green: 0, blue: 0, alpha: 0)

  /// Opaque black.
  package static let black = RGBA(red: 0, green: 0, blue: 0)
}

extension RGBA {
  /// The four bytes as one little-endian word, with red in the lowest byte.
  @inlinable package var word: UInt32 {
    UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | UInt32(alpha) << 24
  }

  /// Creates the pixel with the four bytes of `word`, red in the lowest byte.
  @inlinable package init(word: UInt32) {
    self.init(
      red: UInt8(truncatingIfNeeded: word), green: UInt8(truncatingIfNeeded: word >> 8),
      blue: UInt8(truncatingIfNeeded: word >> 16), alpha: UInt8(truncatingIfNeeded: word >> 24))
  }
}
