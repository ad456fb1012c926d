/// What transparent pixels are laid over.
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

  /// The terminal's own background, whose colour is not known.
  ///
  /// Characters and sixels leave it bare where less than half of a pixel is opaque, and draw the
  /// other pixels in their own colours.
  public static let terminal = Backdrop(even: .default, odd: .default)

  /// Black.
  public static let black = Backdrop.color(red: 0, green: 0, blue: 0)

  /// Light and dark grey squares of 8 pixels of the picture.
  public static let checker = Backdrop(
    even: TerminalColor(red: 0x99, green: 0x99, blue: 0x99),
    odd: TerminalColor(red: 0x66, green: 0x66, blue: 0x66))

  /// Whether transparent pixels are left out instead of laid over a colour.
  var isBare: Bool { even == .default }

  /// Whether a pixel of this alpha is left out over a bare backdrop.
  @inline(__always)
  static func isBare(alpha: UInt8) -> Bool { alpha < 128 }

  @inline(__always)
  func color(x: Int, y: Int) -> TerminalColor {
    (x >> 3 ^ y >> 3) & 1 == 0 ? even : odd
  }
}
