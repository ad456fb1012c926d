package import Glibc
internal import ZoetropeFrames

/// The original line settings of a terminal, and the settings for raw input.
public struct RawMode: Sendable {
  /// The original line settings.
  package let original: termios

  /// Reads the settings of an open terminal. Returns nil if `descriptor` is not a terminal.
  public init?(descriptor: Int32) {
    guard let settings = termios(of: descriptor) else { return nil }
    original = settings
  }

  /// The settings for raw input: without echo, line editing, signals from keys and flow control. A read returns the
  /// bytes that are available.
  ///
  /// Output processing stays on, so a line feed also moves the cursor to the first column.
  package var raw: termios {
    var settings = original
    settings.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
    settings.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | IGNCR | BRKINT | ISTRIP | PARMRK)
    return settings
  }

  /// Applies the settings for raw input: without echo, line editing, signals from keys and flow control. Returns false
  /// if the system refuses.
  public func enter(descriptor: Int32) -> Bool { raw.apply(to: descriptor) }

  /// Discards output that the terminal has not read yet.
  ///
  /// Call this method before you write ``TerminalMode/restore``. Otherwise, a terminal that has stopped reading could
  /// block this write.
  public static func dropOutput(descriptor: Int32) { tcflush(descriptor, TCOFLUSH) }

  /// Restores the original settings. Returns false if the system refuses.
  public func restore(descriptor: Int32) -> Bool { original.apply(to: descriptor) }
}
