import ArgumentParser
import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// Reports progress on standard error: a bar for people, lines of JSON for programs.
struct ProgressReporter {
  private let style: ProgressStyle
  /// The total; nil if unknown. A stream knows only the frames so far.
  private let total: Int?
  /// What is done, in JSON.
  private let phase: String
  private let start = ContinuousClock.now
  private var lastUpdate: ContinuousClock.Instant?
  /// The width of the line on the terminal; 0 if there is none.
  private var shownWidth = 0
  private let hasBlocks = TerminalEnvironment.current.localeHasUTF8 ?? false
  private let isDumb = ["", "dumb"].contains(environmentVariable("TERM") ?? "")

  /// `auto` is a bar if standard error is a terminal, else nothing.
  init(style: ProgressStyle, total: Int? = nil, phase: String = "extract") {
    (self.total, self.phase) = (total, phase)
    if style == .auto {
      self.style = isatty(STDERR_FILENO) == 1 ? .bar : .none
    } else {
      self.style = style
    }
  }

  /// Reports `done`, at most ten times a second; with `stream`, also its progress.
  mutating func update(_ done: (frames: Int, bytes: Int?)?, of stream: StreamProgress? = nil) {
    guard style != .none else { return }
    let now = ContinuousClock.now
    // Short commands show no progress.
    guard now - (lastUpdate ?? start) >= .milliseconds(100) else { return }
    lastUpdate = now
    show(done, stream, elapsed: now - start, phase: phase)
  }

  /// Removes the bar, or writes the last line of JSON.
  mutating func finish(_ done: (frames: Int, bytes: Int?)?, of stream: StreamProgress? = nil) {
    switch style {
    case .json: show(done, stream, elapsed: .now - start, phase: "done")
    case .bar where shownWidth > 0:
      FileDescriptor.note("\r" + erase(after: 0) + (isDumb ? "\r" : ""))
    default: break
    }
  }

  private mutating func show(
    _ done: (frames: Int, bytes: Int?)?, _ stream: StreamProgress?,
    elapsed: ContinuousClock.Instant.Duration, phase: String
  ) {
    if style == .json {
      var json = JSONWriter()
      json.object {
        $0.field("phase", phase)
        $0.field("done", done?.frames)
        $0.field("total", stream?.total ?? total)
        $0.field("bytes", done?.bytes)
        if let stream {
          $0.field("frames_received", stream.frameCount)
          $0.field("bytes_received", stream.byteCount)
        }
      }
      FileDescriptor.note(String(decoding: json.bytes, as: UTF8.self) + "\n")
      return
    }
    let width = Self.terminalWidth
    let text: String?
    if let stream {
      text = StreamLine(progress: stream, done: done?.frames, hasBlocks: hasBlocks).text(
        width: width)
    } else {
      text =
        ProgressBar(
          done: done?.frames ?? 0, total: total ?? 0, bytes: done?.bytes, elapsed: elapsed,
          hasBlocks: hasBlocks
        ).line(width: width)
    }
    guard let line = text else { return }
    FileDescriptor.note("\r\(line)" + erase(after: line.count))
    shownWidth = line.count
  }

  /// Erases the previous line beyond `width` columns; uses spaces on a dumb terminal.
  private func erase(after width: Int) -> String {
    isDumb ? String(repeating: " ", count: max(0, shownWidth - width)) : "\u{1b}[K"
  }

  private static var terminalWidth: Int { FileDescriptor.standardError.terminalSize?.columns ?? 80 }
}

/// A progress line.
struct ProgressBar: Hashable {
  let done: Int
  let total: Int
  /// Bytes written so far; nil if nothing is written.
  let bytes: Int?
  let elapsed: Duration
  /// Whether block characters can be used; else the bar is made of `#`.
  var hasBlocks = true

  /// The line for a terminal of `width` columns; nil if it does not fit.
  func line(width: Int) -> String? {
    guard width >= 20, total > 0 else { return nil }
    var text = " \(done)/\(total) frames"
    if width >= 50, let bytes { text += "  \(Self.size(bytes))" }
    if width >= 60, let left = secondsLeft { text += "  \(left) s left" }
    // The last column stays empty, because some terminals wrap when it is filled.
    let room = min(40, width - 1 - text.count)
    return room >= 4 ? bar(width: room) + text : text
  }

  /// A bar in eighths of a column, or in whole columns.
  func bar(width: Int) -> String {
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

  /// A byte count such as `412 B`, `96 kB` or `1.2 MB`.
  static func size(_ bytes: Int) -> String { bytes.byteSize }
}

/// A progress line for a stream.
struct StreamLine: Hashable {
  let progress: StreamProgress
  /// The number of frames written; nil if none are written.
  let done: Int?
  /// Whether block characters can be used; else the bar is made of `#`.
  var hasBlocks = true

  /// The line for a terminal of `width` columns; nil if it does not fit. Has a bar if the file announces its
  /// number of frames.
  func text(width: Int) -> String? {
    guard width >= 20 else { return nil }
    let known = progress.frameCount
    var text = done.map { " \($0)/\(known)" } ?? " \(known)"
    let total = progress.total
    if let total, total > known { text += " of \(total)" }
    text += " frame\(known == 1 && total ?? 1 == 1 ? "" : "s")"
    if width >= 50 { text += "  \(ProgressBar.size(progress.byteCount)) received" }
    // The last column stays empty, because some terminals wrap when it is filled.
    let room = min(40, width - 1 - text.count)
    guard room >= 0 else { return nil }
    guard let total, total > 0, room >= 4 else { return String(text.dropFirst()) }
    let bar = ProgressBar(
      done: done ?? known, total: total, bytes: nil, elapsed: .zero, hasBlocks: hasBlocks)
    return bar.bar(width: room) + text
  }
}

extension StreamProgress {
  /// The number of frames: those that arrived if the stream has ended, else what the file announces; nil if
  /// that is not credible.
  var total: Int? {
    if ending != nil { return frameCount }
    return announcedFrames.flatMap { $0 >= max(frameCount, 1) ? $0 : nil }
  }
}

/// How to report the progress of a long command.
enum ProgressStyle: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, bar, json, none
}
