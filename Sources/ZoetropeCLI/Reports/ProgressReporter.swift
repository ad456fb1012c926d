import ArgumentParser
import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// Tells on standard error how far a long command is: a bar for people, lines of JSON for programs.
struct ProgressReporter {
  private let style: ProgressStyle
  private let total: Int
  private let start = ContinuousClock.now
  private var lastUpdate: ContinuousClock.Instant?
  /// Columns that the line on the terminal takes; 0 while there is none.
  private var shownWidth = 0
  private let hasBlocks = TerminalEnvironment.current.localeHasUTF8 ?? false
  private let isDumb = ["", "dumb"].contains(TerminalEnvironment.variable("TERM") ?? "")

  /// `auto` is a bar when standard error is a terminal, else nothing.
  init(style: ProgressStyle, total: Int) {
    self.total = total
    if style == .auto {
      self.style = isatty(STDERR_FILENO) == 1 ? .bar : .none
    } else {
      self.style = style
    }
  }

  /// Tells of `done`, unless that was done less than a tenth of a second ago.
  mutating func update(_ done: (frames: Int, bytes: Int?)) {
    guard style != .none else { return }
    let now = ContinuousClock.now
    // Nothing is shown for what is over in a moment.
    guard now - (lastUpdate ?? start) >= .milliseconds(100) else { return }
    lastUpdate = now
    show(done, elapsed: now - start, phase: "extract")
  }

  /// Removes the bar, or writes the last line of JSON.
  mutating func finish(_ done: (frames: Int, bytes: Int?)) {
    switch style {
    case .json: show(done, elapsed: .now - start, phase: "done")
    case .bar where shownWidth > 0:
      FileDescriptor.note("\r" + erase(after: 0) + (isDumb ? "\r" : ""))
    default: break
    }
  }

  private mutating func show(
    _ done: (frames: Int, bytes: Int?), elapsed: ContinuousClock.Instant.Duration, phase: String
  ) {
    if style == .json {
      var json = JSONWriter()
      json.object {
        $0.field("phase", phase)
        $0.field("done", done.frames)
        $0.field("total", total)
        $0.field("bytes", done.bytes)
      }
      FileDescriptor.note(String(decoding: json.bytes, as: UTF8.self) + "\n")
      return
    }
    let bar = ProgressBar(
      done: done.frames, total: total, bytes: done.bytes, elapsed: elapsed, hasBlocks: hasBlocks)
    guard let line = bar.line(width: Self.terminalWidth) else { return }
    FileDescriptor.note("\r\(line)" + erase(after: line.count))
    shownWidth = line.count
  }

  /// Takes away what the line before has past `width` columns: with spaces where escapes are not
  /// understood.
  private func erase(after width: Int) -> String {
    isDumb ? String(repeating: " ", count: max(0, shownWidth - width)) : "\u{1b}[K"
  }

  private static var terminalWidth: Int { FileDescriptor.standardError.terminalSize?.columns ?? 80 }
}

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

/// How a long command tells of its progress.
enum ProgressStyle: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, bar, json, none
}
