/// The page that `?` shows.
enum PlayerHelp {
  static let lines = [
    "space p     pause, go on            q Esc       quit",
    ". l   , h   one frame on, back      ?           this page",
    "Right Left  1 s (Shift: 0.1 s)      i           details",
    "Up Down     5 s                     s           save the frame as PNG",
    "Home g  End first, last frame       n > N <     next, previous file",
    "12g         frame 12                v           way of drawing",
    "[ ]  { }    speed 10 %, half/double f           fit",
    "Backspace   speed 1                 + - 0       zoom",
    "r  b        reverse, turn round     c           background",
    "L           plays: file, once, ever Ctrl-L      draw again",
  ]

  /// The bytes that show it on a screen of so many rows.
  static func bytes(rows: Int) -> [UInt8] {
    var text = "\u{1B}[m\u{1B}[H\u{1B}[J"
    for (row, line) in lines.prefix(max(rows - 1, 0)).enumerated() {
      text += "\u{1B}[\(row + 1);1H\(line)"
    }
    return Array(text.utf8)
  }
}
