import Glibc
import SystemPackage

/// Tells on standard error how far a long command is: a bar for people, lines of JSON for programs.
struct ProgressReporter {
  private let style: ProgressStyle
  private let total: Int
  private let start = ContinuousClock.now
  private var lastUpdate: ContinuousClock.Instant?
  /// Columns that the line on the terminal takes; 0 while there is none.
  private var shownWidth = 0
  private let hasBlocks = Self.showsUnicode
  private let isDumb = Self.variable("TERM").map { $0.isEmpty || $0 == "dumb" } ?? true

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

  /// Whether the locale's characters are Unicode's, as the C library decides it.
  private static var showsUnicode: Bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { variable($0) }
      .first { !$0.isEmpty }
    let name = locale?.lowercased() ?? ""
    return name.contains("utf-8") || name.contains("utf8")
  }

  private static func variable(_ name: String) -> String? {
    // The string belongs to the environment, which nothing here changes; it is copied at once.
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  private static var terminalWidth: Int {
    var size = winsize()
    guard unsafe ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return 80
    }
    return Int(size.ws_col)
  }
}
