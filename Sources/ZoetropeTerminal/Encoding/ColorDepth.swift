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
