/// The memory layout of the pixels of a ``Bitmap``.
///
/// The name of a format lists the channels in memory order. Alpha is straight unless the name contains *Premultiplied*.
/// Channels of more than one byte are in the machine's byte order.
public struct PixelFormat: Sendable, Hashable {
  package let kind: Kind

  package enum Kind: UInt8, Sendable {
    // Raw values are stored in tables on disk, so add new cases only at the end.
    case rgba8, rgba8Premultiplied, bgra8, rgbx8, rgb565, gray8, rgba16, bgra8Premultiplied

    /// Whether the colours are multiplied by alpha.
    package var isPremultiplied: Bool { self == .rgba8Premultiplied || self == .bgra8Premultiplied }
  }

  /// Red, green, blue and alpha with 8 bits each, and straight alpha. Frames are decoded to this format by default.
  public static let rgba8 = PixelFormat(kind: .rgba8)
  /// Like ``rgba8``, but with each colour multiplied by alpha and rounded to the nearest integer.
  public static let rgba8Premultiplied = PixelFormat(kind: .rgba8Premultiplied)
  /// Blue, green, red and alpha with 8 bits each, and straight alpha.
  public static let bgra8 = PixelFormat(kind: .bgra8)
  /// Like ``bgra8``, but with each colour multiplied by alpha and rounded to the nearest integer.
  public static let bgra8Premultiplied = PixelFormat(kind: .bgra8Premultiplied)
  /// Like ``rgba8``, but blended over black. The fourth byte is always 255.
  public static let rgbx8 = PixelFormat(kind: .rgbx8)
  /// One 16-bit word per pixel, blended over black: 5 bits of red in the top bits, then 6 bits of green and 5 bits of
  /// blue.
  public static let rgb565 = PixelFormat(kind: .rgb565)
  /// One byte of luma per pixel, blended over black. Luma is the weighted sum of the stored red, green and blue values
  /// (not linearised), with the weights of BT.709.
  public static let gray8 = PixelFormat(kind: .gray8)
  /// Red, green, blue and alpha with 16 bits each, and straight alpha.
  public static let rgba16 = PixelFormat(kind: .rgba16)

  /// All formats.
  package static let all: [PixelFormat] = [
    .rgba8, .rgba8Premultiplied, .bgra8, .bgra8Premultiplied, .rgbx8, .rgb565, .gray8, .rgba16,
  ]

  /// The number of bytes per pixel.
  public var bytesPerPixel: Int {
    switch kind {
    case .rgba8, .rgba8Premultiplied, .bgra8, .bgra8Premultiplied, .rgbx8: 4
    case .rgb565: 2
    case .gray8: 1
    case .rgba16: 8
    }
  }

  /// Whether each channel or each pixel is a 16-bit word in the machine's byte order.
  package var hasWords: Bool { self == .rgb565 || self == .rgba16 }

  /// Returns the number of bytes from the start of one row to the start of the next for rows of `width` pixels. The
  /// result is a multiple of 64, at most the largest multiple of 64 that fits in an `Int`.
  package func bytesPerRow(width: Int) -> Int {
    (min(max(width, 1), (Int.max - 63) / bytesPerPixel) * bytesPerPixel + 63) & ~63
  }
}

extension PixelFormat {
  /// Returns the number of bytes that a picture of `size` takes in memory.
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
