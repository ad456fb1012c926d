public import ZoetropeFrames

/// How pictures are encoded.
public struct EncodingOptions: Sendable, Hashable {
  /// The largest difference of any channel, from 0 to 255, at which a cell is not repainted.
  /// Default: 2; 0 sends every change.
  public var holdThreshold: Int
  /// How cells average and compare colours. Default: ``LightModel/coded``.
  package var light = LightModel.coded
  /// The backdrop of transparent pixels. Default: ``Backdrop/black``.
  public var backdrop: Backdrop
  /// Whether images stay transparent where the terminal supports it. Default: true.
  public var keepsTransparency: Bool
  /// The filter that scales pictures to the size at which they are shown, up and down, before they are sent as
  /// graphics. It has no effect on characters, which always average.
  ///
  /// Default: nil, which scales larger pictures down and leaves enlarging to the terminal; sixels, which no terminal
  /// enlarges, repeat pixels.
  public var filter: ScalingFilter?

  /// Creates options; omitted arguments have their defaults.
  public init(
    holdThreshold: Int = 2, backdrop: Backdrop = .black, keepsTransparency: Bool = true,
    filter: ScalingFilter? = nil
  ) {
    self.holdThreshold = holdThreshold
    self.backdrop = backdrop
    self.keepsTransparency = keepsTransparency
    self.filter = filter
  }

  /// Options that send every change.
  package static let exact = EncodingOptions(holdThreshold: 0)
}

/// The backdrop of transparent pixels.
public struct Backdrop: Sendable, Hashable {
  /// The colour, or the colour of the even squares.
  let even: TerminalColor
  /// The colour of the odd squares.
  let odd: TerminalColor

  /// One colour of 8 bits a channel.
  public static func color(red: UInt8, green: UInt8, blue: UInt8) -> Backdrop {
    let color = TerminalColor(red: red, green: green, blue: blue)
    return Backdrop(even: color, odd: color)
  }

  /// The terminal's own background, of unknown colour.
  ///
  /// Characters and sixels leave pixels of less than half opacity undrawn, and draw the others
  /// opaque.
  public static let terminal = Backdrop(even: .default, odd: .default)

  /// Black.
  public static let black = Backdrop.color(red: 0, green: 0, blue: 0)

  /// Light and dark grey squares, 8 pixels of the picture wide.
  public static let checker = Backdrop(
    even: TerminalColor(red: 0x99, green: 0x99, blue: 0x99),
    odd: TerminalColor(red: 0x66, green: 0x66, blue: 0x66))

  /// Whether transparent pixels are left undrawn instead of blended with a colour.
  var isBare: Bool { even == .default }

  /// Whether a pixel of this alpha is left undrawn over a bare backdrop.
  @inline(__always)
  static func isBare(alpha: UInt8) -> Bool { alpha < 128 }

  @inline(__always)
  func color(x: Int, y: Int) -> TerminalColor {
    (x >> 3 ^ y >> 3) & 1 == 0 ? even : odd
  }
}
