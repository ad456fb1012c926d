public import Glibc

/// The strings that take the terminal over, and that give it back.
///
/// ``restore`` is built before anything is changed, so that a signal handler needs only to write
/// it. It is right whatever the terminal was in the middle of, and may be written more than once.
public struct TerminalMode: Sendable, Hashable {
  /// Whether the alternate screen is used.
  public var usesAlternateScreen: Bool
  /// Whether kitty's keyboard protocol is switched on.
  public var usesKittyKeyboard: Bool
  /// Whether size changes are asked for in the input.
  public var usesInBandResize: Bool
  /// Whether synchronized output may be open.
  public var isSynchronized: Bool
  /// Whether sixel colours stay defined from one image to the next: mode 1070 is switched off.
  public var keepsSixelRegisters: Bool
  /// Whether images of kitty's protocol are sent.
  public var usesKittyGraphics: Bool
  /// The images of kitty's protocol to delete.
  public var imageIDs: [Int]
  /// How sequences get through a multiplexer.
  public var passthrough: Passthrough

  /// Modes; each argument left out is off.
  public init(
    usesAlternateScreen: Bool = false, usesKittyKeyboard: Bool = false,
    usesInBandResize: Bool = false, isSynchronized: Bool = false,
    keepsSixelRegisters: Bool = false, usesKittyGraphics: Bool = false, imageIDs: [Int] = [],
    passthrough: Passthrough = .none
  ) {
    self.usesAlternateScreen = usesAlternateScreen
    self.usesKittyKeyboard = usesKittyKeyboard
    self.usesInBandResize = usesInBandResize
    self.isSynchronized = isSynchronized
    self.keepsSixelRegisters = keepsSixelRegisters
    self.usesKittyGraphics = usesKittyGraphics || !imageIDs.isEmpty
    self.imageIDs = imageIDs
    self.passthrough = passthrough
  }

  /// What to write first: alternate screen, cursor hidden, no wrapping, the modes.
  public var enter: [UInt8] {
    var bytes: [UInt8] = []
    if usesAlternateScreen { bytes.append(ascii: "\u{1B}[?1049h") }
    bytes.append(ascii: "\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h\u{1B}[m")
    if usesAlternateScreen { bytes.append(ascii: "\u{1B}[H\u{1B}[2J") }
    if usesKittyKeyboard { bytes.append(ascii: "\u{1B}[>1u") }
    if usesInBandResize { bytes.append(ascii: "\u{1B}[?2048h") }
    if keepsSixelRegisters { bytes.append(ascii: "\u{1B}[?1070l") }
    return bytes
  }

  /// What ends a sequence that was cut off half-way (CAN and ST), an image of kitty's of which not all
  /// chunks were sent, and synchronized output.
  public var abort: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(ascii: "\u{18}\u{1B}\\")
    if usesKittyGraphics { passthrough.append(Self.lastChunk, to: &bytes) }
    if isSynchronized { bytes.append(ascii: "\u{1B}[?2026l") }
    return bytes
  }

  /// The end of an image whose chunks were cut off; kitty takes everything that follows for more of
  /// them otherwise, questions included. Without an open image it does nothing.
  static let lastChunk = Array("\u{1B}_Gm=0,q=2;\u{1B}\\".utf8)

  /// What to write last. Begins with ``abort``.
  public var restore: [UInt8] {
    var bytes = abort
    for id in imageIDs {
      var sequence: [UInt8] = []
      sequence.append(text: "\u{1B}_Ga=d,d=I,q=2,i=\(id)\u{1B}\\")
      passthrough.append(sequence, to: &bytes)
    }
    if keepsSixelRegisters { bytes.append(ascii: "\u{1B}[?1070h") }
    if usesInBandResize { bytes.append(ascii: "\u{1B}[?2048l") }
    if usesKittyKeyboard { bytes.append(ascii: "\u{1B}[<u") }
    bytes.append(ascii: "\u{1B}[m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h")
    if usesAlternateScreen { bytes.append(ascii: "\u{1B}[?1049l") }
    return bytes
  }
}

/// The line settings of a terminal, as they were and as a player needs them.
public struct RawMode: Sendable {
  /// The settings that were found.
  public let original: termios

  /// Reads the settings of an open terminal; nil when `descriptor` is not one.
  public init?(descriptor: Int32) {
    var settings = termios()
    // Filled by the system up to its size, and only used when that worked.
    guard unsafe tcgetattr(descriptor, &settings) == 0 else { return nil }
    original = settings
  }

  /// Uses settings that were read elsewhere.
  public init(original: termios) { self.original = original }

  /// The settings for playing: no echo, no line editing, no signals from keys, no flow control,
  /// and reads that return what is there.
  ///
  /// Output processing stays on: every line feed that is written follows a carriage return.
  public var raw: termios {
    var settings = original
    settings.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
    settings.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | IGNCR | BRKINT | ISTRIP | PARMRK)
    return settings
  }

  /// Applies ``raw`` to a terminal; false when the system refused.
  public func enter(descriptor: Int32) -> Bool {
    var settings = raw
    return unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0
  }

  /// Drops output that the terminal has not taken yet.
  ///
  /// Before the last write of ``TerminalMode/restore``, so that a stuck terminal cannot hold it up.
  public static func dropOutput(descriptor: Int32) { tcflush(descriptor, TCOFLUSH) }

  /// Gives a terminal its settings back; false when the system refused.
  public func restore(descriptor: Int32) -> Bool {
    var settings = original
    return unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0
  }
}
