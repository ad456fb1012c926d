import ZoetropeTerminal

/// The line above the status line: how much has played, and the repeated section in brackets.
struct ProgressBar: Sendable, Hashable {
  /// From 0 to 1.
  var played = 0.0
  /// The start of the section, from 0 to 1.
  var sectionStart: Double?
  /// The end of the section, from 0 to 1.
  var sectionEnd: Double?

  /// The fewest rows of a screen that has room for a bar.
  static let leastRows = 8

  /// One character per column.
  func text(columns: Int) -> [Character] {
    guard columns > 0 else { return [] }
    func column(_ part: Double) -> Int { min(max(Int(part * Double(columns)), 0), columns - 1) }
    let end = column(played)
    var text: [Character] = (0..<columns).map { $0 < end ? "━" : $0 == end ? "╸" : "─" }
    if let sectionStart { text[column(sectionStart)] = "[" }
    // The bracket goes on the last column of the section's last frame, not on the first column of the next frame.
    if let sectionEnd {
      text[min(max(Int((sectionEnd * Double(columns)).rounded(.up)) - 1, 0), columns - 1)] = "]"
    }
    return text
  }

  /// The bytes that turn `before` into `text` in a row, and keep the cursor and colours.
  static func bytes(_ text: [Character], after before: [Character], row: Int) -> [UInt8] {
    guard text != before else { return [] }
    var changed = text.indices
    if before.count == text.count {
      let first = text.indices.first { text[$0] != before[$0] } ?? 0
      let last = text.indices.last { text[$0] != before[$0] } ?? 0
      changed = first..<last + 1
    }
    return Array(
      "\u{1B}7\u{1B}[\(row + 1);\(changed.lowerBound + 1)H\u{1B}[m\(String(text[changed]))\u{1B}8"
        .utf8)
  }
}
