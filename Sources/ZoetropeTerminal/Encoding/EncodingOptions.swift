public import ZoetropeFrames

/// Options for encoding pictures.
public struct EncodingOptions: Sendable, Hashable {
  /// The largest change of a colour channel, from 0 to 255, for which a cell need not be repainted. Default: 2. With 0,
  /// every change is sent.
  public var holdThreshold: Int
  /// The backdrop behind transparent pixels. Default: ``Backdrop/black``.
  public var backdrop: Backdrop
  /// Whether images stay transparent if the terminal supports transparent images. Default: true.
  public var keepsTransparency: Bool
  /// The filter that scales pictures, before they are sent as graphics, to the size at which they are shown. The filter
  /// has no effect on characters, which always show averages.
  ///
  /// Default: nil, which scales down pictures that are too large, and leaves enlarging to the terminal. Sixels are an
  /// exception: no terminal enlarges them, so with nil they are scaled both up and down as with
  /// `ScalingFilter.nearest`.
  public var filter: ScalingFilter?

  /// Creates options. Omitted arguments have the defaults documented for the properties.
  public init(
    holdThreshold: Int = 2, backdrop: Backdrop = .black, keepsTransparency: Bool = true,
    filter: ScalingFilter? = nil
  ) {
    self.holdThreshold = holdThreshold
    self.backdrop = backdrop
    self.keepsTransparency = keepsTransparency
    self.filter = filter
  }

  /// Options with a hold threshold of 0, which send every change.
  package static let exact = EncodingOptions(holdThreshold: 0)
}

/// What is shown behind transparent pixels.
public struct Backdrop: Sendable, Hashable {
  /// The single colour, or the colour of the even squares.
  let even: TerminalColor
  /// The colour of the odd squares.
  let odd: TerminalColor

  /// Returns a backdrop of a single colour with 8 bits per channel.
  public static func color(red: UInt8, green: UInt8, blue: UInt8) -> Backdrop {
    let color = TerminalColor(red: red, green: green, blue: blue)
    return Backdrop(even: color, odd: color)
  }

  /// The terminal's own background, whose colour is unknown.
  ///
  /// Pixels of less than half opacity are left out when pictures are drawn with characters or sixels, and all other
  /// pixels are drawn opaque.
  public static let terminal = Backdrop(even: .default, odd: .default)

  /// A black backdrop.
  public static let black = Backdrop.color(red: 0, green: 0, blue: 0)

  /// A backdrop of light and dark grey squares, each of which covers 8 x 8 pixels of the picture.
  public static let checker = Backdrop(
    even: TerminalColor(red: 0x99, green: 0x99, blue: 0x99),
    odd: TerminalColor(red: 0x66, green: 0x66, blue: 0x66))

  /// Whether transparent pixels are left out instead of being blended with a colour.
  var isBare: Bool { even == .default }

  /// Returns whether a pixel with this alpha is left out over a bare backdrop.
  @inline(__always)
  static func isBare(alpha: UInt8) -> Bool { alpha < 128 }

  @inline(__always)
  func color(x: Int, y: Int) -> TerminalColor {
    (x >> 3 ^ y >> 3) & 1 == 0 ? even : odd
  }
}
