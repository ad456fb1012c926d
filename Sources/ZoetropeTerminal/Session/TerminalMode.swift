internal import Glibc
internal import ZoetropeFrames

/// The bytes that set up a terminal for full-screen output, and the bytes that restore it.
///
/// Create ``restore`` before anything is changed, so that a signal handler only has to write these bytes. The bytes of
/// ``restore`` take effect even if another sequence was interrupted in the middle, and may be written more than once.
public struct TerminalMode: Sendable, Hashable {
  /// Whether to use the alternate screen.
  package var usesAlternateScreen: Bool
  /// Whether to request reports of the mouse's buttons, drags and wheel (modes 1002 and 1006).
  ///
  /// If true, the user can no longer select text with the mouse. Most terminals still allow selecting while Shift is
  /// held.
  package var usesMouse: Bool
  /// Whether synchronized output may be in progress when the terminal is restored.
  package var isSynchronized: Bool
  /// Whether the definitions of sixel colours persist from one image to the next. If so, mode 1070 is reset.
  package var keepsSixelRegisters: Bool
  /// Whether images are sent with kitty's protocol.
  package var usesKittyGraphics: Bool
  /// The ids of the kitty images to delete when the terminal is restored.
  package var imageIDs: [Int]
  /// The way in which sequences pass through a multiplexer.
  package var passthrough: Passthrough

  /// Creates a mode for a program that draws pictures with a ``FrameWriter`` of the same capabilities.
  ///
  /// - Parameters:
  ///   - capabilities: The capabilities of the terminal.
  ///   - usesAlternateScreen: Whether to use the alternate screen. Default: true.
  ///   - usesMouse: Whether to request reports of the mouse. Default: false.
  public init(
    _ capabilities: TerminalCapabilities, usesAlternateScreen: Bool = true, usesMouse: Bool = false
  ) {
    self.init(
      usesAlternateScreen: usesAlternateScreen, usesMouse: usesMouse,
      isSynchronized: capabilities.hasSynchronizedOutput,
      imageIDs: capabilities.hasKittyGraphics ? [4711, 4712] : [])
  }

  /// Creates a mode. Everything is off by default.
  package init(
    usesAlternateScreen: Bool = false, usesMouse: Bool = false, isSynchronized: Bool = false,
    keepsSixelRegisters: Bool = false, usesKittyGraphics: Bool = false, imageIDs: [Int] = [],
    passthrough: Passthrough = .none
  ) {
    self.usesAlternateScreen = usesAlternateScreen
    self.usesMouse = usesMouse
    self.isSynchronized = isSynchronized
    self.keepsSixelRegisters = keepsSixelRegisters
    self.usesKittyGraphics = usesKittyGraphics || !imageIDs.isEmpty
    self.imageIDs = imageIDs
    self.passthrough = passthrough
  }

  /// The bytes to write first. They select the screen, hide the cursor, turn off wrapping, and set further modes, for
  /// example for the mouse.
  public var enter: [UInt8] {
    var bytes: [UInt8] = []
    if usesAlternateScreen { bytes.append(ascii: "\u{1B}[?1049h") }
    bytes.append(ascii: "\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h\u{1B}[m")
    if usesAlternateScreen { bytes.append(ascii: "\u{1B}[H\u{1B}[2J") }
    if usesMouse { bytes.append(ascii: "\u{1B}[?1002h\u{1B}[?1006h") }
    if keepsSixelRegisters { bytes.append(ascii: "\u{1B}[?1070l") }
    return bytes
  }

  /// The bytes that end a truncated sequence (CAN and ST), an incomplete kitty image, and synchronized output.
  package var abort: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(ascii: "\u{18}\u{1B}\\")
    if usesKittyGraphics { passthrough.append(Self.lastChunk, to: &bytes) }
    if isSynchronized { bytes.append(ascii: "\u{1B}[?2026l") }
    return bytes
  }

  /// The bytes that end an incomplete kitty image. They have no effect if there is none.
  ///
  /// Without these bytes, kitty would treat everything that follows, including queries, as further chunks of the
  /// incomplete image.
  static let lastChunk = Array("\u{1B}_Gm=0,q=2;\u{1B}\\".utf8)

  /// The bytes to write last. They end an incomplete sequence, and undo ``enter``.
  public var restore: [UInt8] {
    var bytes = abort
    for id in imageIDs { passthrough.appendDeletion(ofImage: id, to: &bytes) }
    if keepsSixelRegisters { bytes.append(ascii: "\u{1B}[?1070h") }
    if usesMouse { bytes.append(ascii: "\u{1B}[?1006l\u{1B}[?1002l") }
    bytes.append(ascii: "\u{1B}[m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h")
    if usesAlternateScreen { bytes.append(ascii: "\u{1B}[?1049l") }
    return bytes
  }
}
