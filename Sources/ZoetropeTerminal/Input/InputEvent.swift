/// What the bytes of a terminal's input mean.
public enum InputEvent: Sendable, Hashable {
  /// A key was pressed.
  case key(KeyEvent)
  /// The terminal said something.
  case reply(TerminalReply)
}
