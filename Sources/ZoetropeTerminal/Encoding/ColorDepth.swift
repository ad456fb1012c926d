/// The range of colours that a terminal can show.
package enum ColorDepth: String, Sendable, Hashable, CaseIterable {
  /// Only the terminal's own foreground and background, as with `NO_COLOR` or `TERM=dumb`.
  case none
  /// The 16 basic colours.
  case basic = "16"
  /// The 256 colours of xterm.
  case indexed = "256"
  /// 24-bit colours.
  case full
}
