/// One line that shows how far a command is.
struct ProgressBar: Hashable {
  let done: Int
  let total: Int
  /// Written so far; nil where nothing is written.
  let bytes: Int?
  let elapsed: Duration
  /// Whether the terminal shows eighths of a column; else the bar is made of `#`.
  var hasBlocks = true

  /// The line for a terminal of `width` columns; nil when there is no room for one.
  func line(width: Int) -> String? {
    guard width >= 20, total > 0 else { return nil }
    var text = " \(done)/\(total) frames"
    if width >= 50, let bytes { text += "  \(Self.size(bytes))" }
    if width >= 60, let left = secondsLeft { text += "  \(left) s left" }
    // The last column stays free: some terminals wrap when it is filled.
    let room = min(40, width - 1 - text.count)
    return room >= 4 ? bar(width: room) + text : text
  }

  /// A bar in eighths of a column, or in whole ones.
  private func bar(width: Int) -> String {
    guard hasBlocks else {
      return String(repeating: "#", count: min(done, total) * width / total)
        .paddedRight(to: width)
    }
    let eighths = min(done, total) * width * 8 / total
    let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
    let full = String(repeating: "█", count: eighths / 8) + partial
    return full.paddedRight(to: width)
  }

  private var secondsLeft: Int? {
    guard done > 0, elapsed >= .milliseconds(500) else { return nil }
    let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    return Int((seconds / Double(done) * Double(total - done)).rounded(.up))
  }

  /// Bytes for people: `412 B`, `96 kB`, `1.2 MB`.
  static func size(_ bytes: Int) -> String {
    if bytes < 1000 { return "\(bytes) B" }
    if bytes < 1_000_000 { return "\(bytes / 1000) kB" }
    let tenths = bytes / 100_000
    if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) MB" }
    return "\(tenths / 10_000).\(tenths / 1000 % 10) GB"
  }
}
