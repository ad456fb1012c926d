/// One pixel of 8 bits a channel with straight (not premultiplied) alpha, R first in memory.
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

  /// Makes a pixel, opaque unless said otherwise.
  @inlinable
  public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }

  /// Transparent black, what a canvas starts with.
  public static let clear = RGBA(red: 0, green: 0, blue: 0, alpha: 0)

  /// Opaque black.
  public static let black = RGBA(red: 0, green: 0, blue: 0)
}

extension RGBA {
  /// The four bytes as one word whose lowest byte is red, as they lie in memory (little-endian).
  @inlinable package var word: UInt32 {
    UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | UInt32(alpha) << 24
  }

  /// The pixel whose bytes lie in `word`, red lowest.
  @inlinable package init(word: UInt32) {
    self.init(
      red: UInt8(truncatingIfNeeded: word), green: UInt8(truncatingIfNeeded: word >> 8),
      blue: UInt8(truncatingIfNeeded: word >> 16), alpha: UInt8(truncatingIfNeeded: word >> 24))
  }
}
