package import Glibc
internal import ZoetropeFrames

/// A terminal's original line settings, and those for raw input.
public struct RawMode: Sendable {
  /// The original settings.
  package let original: termios

  /// Reads the settings of an open terminal; nil when `descriptor` is not a terminal.
  public init?(descriptor: Int32) {
    guard let settings = termios(of: descriptor) else { return nil }
    original = settings
  }

  /// Creates a value from settings that were read elsewhere.
  package init(original: termios) { self.original = original }

  /// The settings for raw input: no echo, line editing, signals from keys or flow control, and reads that
  /// return the available bytes.
  ///
  /// Output processing stays on, so a line feed also returns the carriage.
  package var raw: termios {
    var settings = original
    settings.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
    settings.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | IGNCR | BRKINT | ISTRIP | PARMRK)
    return settings
  }

  /// Applies the settings for raw input: no echo, line editing, signals from keys or flow control. Returns false
  /// when the system refuses.
  public func enter(descriptor: Int32) -> Bool { raw.apply(to: descriptor) }

  /// Discards output that the terminal has not read yet.
  ///
  /// Call it before writing ``TerminalMode/restore``, so that a stuck terminal cannot block that.
  public static func dropOutput(descriptor: Int32) { tcflush(descriptor, TCOFLUSH) }

  /// Restores the original settings; returns false when the system refuses.
  public func restore(descriptor: Int32) -> Bool { original.apply(to: descriptor) }
}
