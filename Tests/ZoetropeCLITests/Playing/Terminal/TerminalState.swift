/// What a program may leave changed on a terminal.
struct TerminalState: Equatable {
  var isAlternate = false
  var isCursorShown = true
  var wraps = true
  var marksPastes = false
  var isSynchronized = false
  /// The modes that report the mouse.
  var mouseModes: Set<String> = []
  /// The colours and attributes that the next character would have.
  var pen: [String] = []
  /// The images of kitty's protocol that are there.
  var images: Set<String> = []
  /// Whether a control sequence was begun and not ended.
  var isInSequence = false
}
