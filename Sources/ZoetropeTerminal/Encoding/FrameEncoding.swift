public import Zoetrope

/// Turns pictures into the bytes that make a terminal show them.
///
/// An encoder is a value that knows what the terminal shows inside its area, so each picture costs
/// only what changed. A copy of an encoder is a snapshot of that knowledge. All bytes go to the
/// terminal in order, or ``invalidate()`` is called.
public protocol FrameEncoding: Sendable {
  /// The cells that are drawn to.
  var area: CellRect { get }
  /// Pixels that the terminal will show; pictures of this size need no scaling.
  ///
  /// Pictures of any size are taken, and scaled where that is needed.
  var pixelSize: PixelSize { get }
  /// Whether the bytes are graphics, which tmux and screen need wrapped.
  var isGraphics: Bool { get }

  /// Appends the bytes that change what the terminal shows into `bitmap`.
  ///
  /// Nothing is appended when nothing changes. `changed` is where the bitmap may differ from the
  /// one of the call before; nil when that is not known. `pen` is what is known of the cursor and
  /// colours, before and after.
  ///
  /// - Precondition: `bitmap` is `PixelFormat.rgba8`.
  mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8])

  /// Forgets what the terminal shows: the next picture is sent whole.
  mutating func invalidate()

  /// Changes the hold threshold from the next picture on; see ``EncodingOptions/holdThreshold``.
  ///
  /// A higher one spares a slow link. Graphics are always exact, so nothing happens there.
  mutating func setHoldThreshold(_ threshold: Int)

  /// Appends the bytes that free what the terminal keeps for this encoder, such as images.
  ///
  /// Cells keep what they show.
  mutating func remove(pen: inout PenState, into output: inout [UInt8])

  /// A hash of everything that the next bytes depend on, the next picture aside.
  var stateHash: Int { get }

  /// A copy that knows what the terminal shows and holds no picture, for keeping many of.
  ///
  /// ``resume(showing:)`` makes it fit for use.
  func withoutPicture() -> Self

  /// Takes back the picture that ``withoutPicture()`` left out: `bitmap`, the last one encoded.
  mutating func resume(showing bitmap: Bitmap)

  /// Bytes of memory that ``withoutPicture()`` holds for itself.
  var stateByteCount: Int { get }
}

extension FrameEncoding {
  /// Leaves nothing out.
  public func withoutPicture() -> Self { self }

  /// Does nothing.
  public mutating func resume(showing bitmap: Bitmap) {}

  /// Does nothing.
  public mutating func setHoldThreshold(_ threshold: Int) {}
}

/// How pictures are turned into a terminal's bytes.
public struct EncodingOptions: Sendable, Hashable {
  /// A cell stays as it is while no channel of what it shows is farther than this from what it
  /// should show, in coded values of 0 to 255. Default: 2; 0 sends every change.
  public var holdThreshold: Int
  /// In which numbers cells average and compare colours. Default: ``LightModel/coded``.
  public var light: LightModel
  /// What transparent pixels are laid over. Default: ``Backdrop/black``.
  public var backdrop: Backdrop
  /// Whether images keep their transparency where the terminal can show it. Default: true.
  public var keepsTransparency: Bool
  /// Whether 256 and 16 colours are dithered, by a pattern fixed to the screen. Default: true.
  public var dithers: Bool

  /// Options; each argument left out has its default.
  public init(
    holdThreshold: Int = 2, light: LightModel = .coded, backdrop: Backdrop = .black,
    keepsTransparency: Bool = true, dithers: Bool = true
  ) {
    self.holdThreshold = holdThreshold
    self.light = light
    self.backdrop = backdrop
    self.keepsTransparency = keepsTransparency
    self.dithers = dithers
  }

  /// Options that send every change.
  public static let exact = EncodingOptions(holdThreshold: 0)
}

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

/// How many colours a terminal shows.
public enum ColorDepth: String, Sendable, Hashable, CaseIterable {
  /// Only its own two: bold claims such as `NO_COLOR` and `TERM=dumb` end here.
  case none
  /// The 16 of the first colour terminals.
  case basic = "16"
  /// The 256 of xterm.
  case indexed = "256"
  /// 8 bits a channel.
  case full
}
