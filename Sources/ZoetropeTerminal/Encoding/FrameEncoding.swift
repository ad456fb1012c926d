public import ZoetropeFrames

/// A way to turn pictures into bytes that make a terminal show them.
///
/// An encoder is a value that knows what the terminal shows inside its area, so each picture costs
/// only what changed. A copy is a snapshot of that knowledge. Either all bytes reach the terminal
/// in order, or ``invalidate()`` must be called.
package protocol FrameEncoding: Sendable {
  /// The cells it draws to.
  var area: CellRect { get }
  /// The size in pixels at which pictures are shown; pictures of this size need no scaling.
  ///
  /// Pictures of any size are accepted, and scaled where necessary.
  var pixelSize: PixelSize { get }
  /// Whether the bytes are graphics, which must be wrapped for tmux and screen.
  var isGraphics: Bool { get }

  /// Appends the bytes that make the terminal show `bitmap`; nothing when nothing changes.
  ///
  /// - Parameters:
  ///   - bitmap: The picture.
  ///   - changed: Where it may differ from the picture before; nil when unknown.
  ///   - pen: What is known about the cursor and colours, which is updated.
  ///   - output: Where the bytes go.
  /// - Precondition: `bitmap` is `PixelFormat.rgba8`.
  mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8])

  /// Like ``encode(_:changed:pen:into:)``, but can be given up: encoders that take long ask `isWanted` between rows,
  /// others never.
  ///
  /// - Returns: False if `isWanted` returned false. Then nothing was appended, and the next picture is
  ///   sent whole.
  mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8],
    while isWanted: () -> Bool
  ) -> Bool

  /// Discards the known screen contents, so that the next picture is sent whole.
  mutating func invalidate()

  /// Changes the hold threshold from the next picture on; see ``EncodingOptions/holdThreshold``.
  ///
  /// A higher one saves bytes on a slow link. It has no effect on graphics, which are always exact.
  mutating func setHoldThreshold(_ threshold: Int)

  /// Appends the bytes that free what the terminal stores for this encoder, such as images.
  ///
  /// Characters stay on the screen.
  mutating func remove(pen: inout PenState, into output: inout [UInt8])

  /// A hash of everything that determines the next bytes, apart from the next picture.
  var stateHash: Int { get }

  /// Returns a copy that holds no picture, so that many can be kept.
  ///
  /// Call ``resume(showing:)`` before using it.
  func withoutPicture() -> Self

  /// Restores the picture that ``withoutPicture()`` left out; `bitmap` is the last one encoded.
  mutating func resume(showing bitmap: Bitmap)

  /// The bytes of memory that a copy made by ``withoutPicture()`` holds.
  var stateByteCount: Int { get }
}

extension FrameEncoding {
  /// Returns the encoder itself.
  package func withoutPicture() -> Self { self }

  /// Encodes the whole picture without asking.
  package mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8],
    while isWanted: () -> Bool
  ) -> Bool {
    encode(bitmap, changed: changed, pen: &pen, into: &output)
    return true
  }

  /// Does nothing.
  package mutating func resume(showing bitmap: Bitmap) {}

  /// Appends nothing.
  package mutating func remove(pen: inout PenState, into output: inout [UInt8]) {}

  /// 0.
  package var stateByteCount: Int { 0 }

  /// Does nothing.
  package mutating func setHoldThreshold(_ threshold: Int) {}
}

/// How pictures are encoded.
public struct EncodingOptions: Sendable, Hashable {
  /// The difference, in any channel from 0 to 255, up to which a cell is not repainted. Default: 2;
  /// 0 sends every change.
  public var holdThreshold: Int
  /// How cells average and compare colours. Default: ``LightModel/coded``.
  package var light = LightModel.coded
  /// The backdrop of transparent pixels. Default: ``Backdrop/black``.
  public var backdrop: Backdrop
  /// Whether images stay transparent where the terminal supports it. Default: true.
  public var keepsTransparency: Bool
  /// The filter that scales pictures to the size at which they are shown, up and down, before they
  /// are sent as graphics. Characters average in any case.
  ///
  /// Default: nil, which scales larger pictures down and leaves enlarging to the terminal; sixels,
  /// which no terminal enlarges, repeat pixels.
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

/// How many colours a terminal can show.
package enum ColorDepth: String, Sendable, Hashable, CaseIterable {
  /// Only its own two, as with `NO_COLOR` or `TERM=dumb`.
  case none
  /// 16 colours.
  case basic = "16"
  /// The 256 colours of xterm.
  case indexed = "256"
  /// 24-bit colour.
  case full
}
