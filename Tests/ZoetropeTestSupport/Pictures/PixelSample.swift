public import Zoetrope

/// One pixel for the builders: a colour of 16 bits per channel, or an explicit palette index.
public struct PixelSample: Sendable, Hashable {
  /// Red, 0 to 65535.
  public var red: UInt16
  /// Green, 0 to 65535.
  public var green: UInt16
  /// Blue, 0 to 65535.
  public var blue: UInt16
  /// Opacity, 0 (transparent) to 65535 (opaque).
  public var alpha: UInt16
  /// The palette index to write whatever the palette holds; nil to look the colour up.
  public var index: UInt8?

  /// A colour of 16 bits per channel, or an index.
  public init(
    red: UInt16, green: UInt16, blue: UInt16, alpha: UInt16 = .max, index: UInt8? = nil
  ) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
    self.index = index
  }

  /// A colour of 8 bits per channel; each byte is repeated, so that the high byte equals it.
  public init(_ color: RGBA, index: UInt8? = nil) {
    self.init(
      red: UInt16(color.red) * 257, green: UInt16(color.green) * 257,
      blue: UInt16(color.blue) * 257, alpha: UInt16(color.alpha) * 257, index: index)
  }

  /// The high byte of each channel.
  public var rgba: RGBA {
    RGBA(
      red: UInt8(red >> 8), green: UInt8(green >> 8), blue: UInt8(blue >> 8),
      alpha: UInt8(alpha >> 8))
  }

  /// Transparent black.
  public static let clear = PixelSample(.clear)

  /// The colour `step`/`steps` of the way from `start` to `end`, rounded down per channel.
  static func between(
    _ start: PixelSample, _ end: PixelSample, step: Int, of steps: Int
  ) -> PixelSample {
    func mix(_ from: UInt16, _ to: UInt16) -> UInt16 {
      guard steps > 0 else { return from }
      return UInt16(clamping: Int(from) + (Int(to) - Int(from)) * step / steps)
    }
    return PixelSample(
      red: mix(start.red, end.red), green: mix(start.green, end.green),
      blue: mix(start.blue, end.blue), alpha: mix(start.alpha, end.alpha))
  }
}
