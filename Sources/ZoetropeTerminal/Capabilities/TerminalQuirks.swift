/// What is known of terminals by their names, where no query tells.
///
/// Each entry was seen in the terminal or its documentation; a name not listed gets nothing.
struct TerminalQuirks: Sendable, Hashable {
  /// iTerm2's images have no query of their own.
  var hasITerm2Images = false
  /// Sextants are drawn by the terminal itself.
  var drawsSextants = false
  /// Octants are drawn by the terminal itself.
  var drawsOctants = false
  /// 24-bit colour, even where `COLORTERM` was lost on the way (ssh, sudo).
  var isFullColor = false
  /// Frames can be edited (kitty since 0.20), should the answer to the question be lost.
  var hasKittyEdits = false
  /// It answers every batch of questions, however late: worth waiting for.
  var answers = false
  /// Images break when frames are edited, whatever the terminal answers.
  var misreportsKittyEdits = false

  private static let table: [(name: String, quirks: TerminalQuirks)] = [
    (
      "kitty",
      TerminalQuirks(drawsSextants: true, isFullColor: true, hasKittyEdits: true, answers: true)
    ),
    (
      "ghostty",
      TerminalQuirks(
        drawsSextants: true, drawsOctants: true, isFullColor: true, answers: true,
        misreportsKittyEdits: true)
    ),
    ("foot", TerminalQuirks(drawsSextants: true, isFullColor: true, answers: true)),
    (
      "wezterm",
      TerminalQuirks(hasITerm2Images: true, drawsSextants: true, isFullColor: true, answers: true)
    ),
    ("iterm2", TerminalQuirks(hasITerm2Images: true, isFullColor: true)),
    ("iterm.app", TerminalQuirks(hasITerm2Images: true, isFullColor: true)),
    ("contour", TerminalQuirks(drawsSextants: true, isFullColor: true)),
    ("mintty", TerminalQuirks(hasITerm2Images: true, isFullColor: true)),
    ("konsole", TerminalQuirks(isFullColor: true)),
    ("alacritty", TerminalQuirks(isFullColor: true)),
    ("vscode", TerminalQuirks(isFullColor: true)),
  ]

  /// What is known of a terminal that calls itself `name`, such as `foot(1.13.1)`.
  init(name: String) {
    let lowered = name.lowercased()
    let word = lowered.prefix { $0.isLetter || $0.isNumber || $0 == "." }
    self = Self.table.first { word == $0.name }?.quirks ?? TerminalQuirks()
  }

  private init(
    hasITerm2Images: Bool = false, drawsSextants: Bool = false, drawsOctants: Bool = false,
    isFullColor: Bool = false, hasKittyEdits: Bool = false, answers: Bool = false,
    misreportsKittyEdits: Bool = false
  ) {
    self.hasITerm2Images = hasITerm2Images
    self.drawsSextants = drawsSextants
    self.drawsOctants = drawsOctants
    self.isFullColor = isFullColor
    self.hasKittyEdits = hasKittyEdits
    self.answers = answers
    self.misreportsKittyEdits = misreportsKittyEdits
  }
}
