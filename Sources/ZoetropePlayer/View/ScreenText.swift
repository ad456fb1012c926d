/// A screen of text, such as the help.
enum ScreenText {
  /// Returns the bytes that clear the screen and show `lines`, with `footer` in the last row.
  static func bytes(_ lines: [String], selected: Int? = nil, footer: String, rows: Int) -> [UInt8] {
    var text = "\u{1B}[m\u{1B}[H\u{1B}[J"
    for (row, line) in lines.prefix(max(rows - 1, 0)).enumerated() {
      text += "\u{1B}[\(row + 1);1H"
      text += row == selected ? "\u{1B}[7m\(line)\u{1B}[m" : line
    }
    return Array((text + "\u{1B}[\(rows);1H\(footer)").utf8)
  }
}
