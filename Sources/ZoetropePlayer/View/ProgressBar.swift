import ZoetropeTerminal

/// The line above the status line. It shows how much of the animation has been played, and the repeated section in
/// brackets.
struct ProgressBar: Sendable, Hashable {
  /// The fraction of the animation that has been played, from 0 to 1.
  var played = 0.0
  /// The start of the repeated section as a fraction of the animation, or nil if there is no section.
  var sectionStart: Double?
  /// The end of the repeated section as a fraction of the animation, or nil if the section has no end yet.
  var sectionEnd: Double?

  /// The minimum number of rows of a screen on which the bar is shown.
  static let leastRows = 8

  /// Returns the characters of the bar, one for each column.
  func text(columns: Int) -> [Character] {
    guard columns > 0 else { return [] }
    func column(_ part: Double) -> Int { min(max(Int(part * Double(columns)), 0), columns - 1) }
    let end = column(played)
    var text: [Character] = (0..<columns).map { $0 < end ? "━" : $0 == end ? "╸" : "─" }
    if let sectionStart { text[column(sectionStart)] = "[" }
    // The bracket is in the last column of the section's last frame, not in the first column of the next frame.
    if let sectionEnd {
      text[min(max(Int((sectionEnd * Double(columns)).rounded(.up)) - 1, 0), columns - 1)] = "]"
    }
    return text
  }

  /// Returns the bytes that change the bar in a row of the screen from `before` to `text`. They leave the cursor and
  /// the colours unchanged.
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
