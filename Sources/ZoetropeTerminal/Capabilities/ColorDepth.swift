/// How many colours a terminal shows.
public enum ColorDepth: String, Sendable, Hashable, CaseIterable {
  /// Only its own two: bold claims such as `NO_COLOR` and `TERM=dumb` end here.
  case none
  /// The 16 of the first colour terminals.
  case basic = "16"
  /// The 256 of xterm.
  case indexed = "256"
  /// 8 bits a channel.
  case full
}
