/// The page that `?` shows.
enum PlayerHelp {
  static let lines = [
    "space p     pause, go on            q Esc       quit",
    ". l   , h   one frame on, back      ?           this page",
    "Right Left  1 s (Shift: 0.1 s)      i o         details",
    "Up Down     5 s                     t           delays as bars",
    "Home g  End first, last frame       s  S        save the frame, all frames",
    "12g         frame 12, from 0        PgDn n > Enter   next file",
    "[ ]  { }    speed 10 %, half/double PgUp N <    file before",
    "Backspace   speed 1                 v           way of drawing",
    "r  b        reverse, turn round     f           fit",
    "L           plays: file, once, ever + - 0       zoom",
    "a           section: start, end, off  c         background",
    "m           motion off, on          Ctrl-L      draw again",
    "d  D        what changes, raw frame Ctrl-Z      back to the shell",
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
