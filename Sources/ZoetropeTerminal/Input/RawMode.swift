public import Glibc

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
