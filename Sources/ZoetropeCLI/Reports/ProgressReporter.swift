import ArgumentParser
import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// Reports the progress of a command on standard error: one line for all of its files on a terminal, lines of JSON for
/// programs.
final class ProgressReporter {
  private let style: ProgressStyle
  /// The name of the work in progress, for JSON.
  private let phase: String
  private var start = ContinuousClock.now
  /// Whether inputs are only opened, before work on them begins.
  private var isChecking = false
  private var lastUpdate: ContinuousClock.Instant?
  /// The width of the line on the terminal; 0 if there is none.
  private var shownWidth = 0
  private let hasBlocks = TerminalEnvironment.current.localeHasUTF8 ?? false
  private let isDumb = ["", "dumb"].contains(environmentVariable("TERM") ?? "")
  /// The inputs of the command; empty if they are worked on together.
  private let inputs: [InputFile]
  /// The approximate work for each input, to estimate the time left; empty unless a line is shown.
  private let weights: [Int]
  private let totalWeight: Int
  /// The work of the inputs before the current one.
  private var doneWeight = 0
  /// The current input, from 0; nil before the first.
  private var number: Int?
  /// The total of the current input; nil if unknown. A stream knows only the frames so far.
  private var total: Int?
  /// Which attempt to meet a byte budget the numbers belong to, from 1; nil if there is no budget.
  private var attempt: Int?
  /// The bytes written for the inputs before the current one.
  private var earlierBytes = 0
  private(set) var summary: BatchSummary

  /// `auto` is a line if standard error is a terminal, else nothing.
  ///
  /// - Parameters:
  ///   - total: The number of frames, if there are no `inputs` to begin one by one.
  ///   - writes: Whether the bytes written are counted.
  init(
    style: ProgressStyle, inputs: [InputFile] = [], total: Int? = nil, phase: String = "extract",
    writes: Bool = false
  ) {
    (self.inputs, self.total, self.phase) = (inputs, total, phase)
    if style == .auto {
      self.style = isatty(STDERR_FILENO) == 1 ? .bar : .none
    } else {
      self.style = style
    }
    // Opening a file costs about as much as decoding some kilobytes.
    weights =
      self.style == .bar && inputs.count > 1
      ? inputs.map { 4096 + ($0.path.flatMap { FileStatus(at: $0) }?.byteCount ?? 0) } : []
    totalWeight = weights.reduce(0, +)
    summary = BatchSummary(writes: writes)
  }

  /// Whether there are several inputs.
  private var isBatch: Bool { inputs.count > 1 }

  /// Shows that input `number` is being checked, before work on any input begins.
  func check(_ number: Int) {
    (self.number, isChecking) = (number, true)
    update(nil)
  }

  /// Begins with the next input, or with input `number`.
  func begin(_ number: Int? = nil) {
    if isChecking { (isChecking, start) = (false, .now) }
    let next = number ?? (self.number ?? -1) + 1
    doneWeight = weights.isEmpty ? 0 : weights.prefix(next).reduce(0, +)
    (self.number, total) = (next, nil)
    update(nil)
  }

  /// Sets the number of frames of the current input, or of an attempt to meet a byte budget.
  func expect(_ total: Int?, attempt: Int? = nil) { (self.total, self.attempt) = (total, attempt) }

  /// Ends the current input.
  func end(_ condition: InputCondition, frames: Int = 0, bytes: Int = 0) {
    summary.add(condition, frames: frames, bytes: bytes)
    earlierBytes += bytes
  }

  /// Reports `done`, at most ten times a second; with `stream`, also its progress.
  func update(_ done: (frames: Int, bytes: Int?)?, of stream: StreamProgress? = nil) {
    guard style != .none else { return }
    let now = ContinuousClock.now
    // Short commands show no progress.
    guard now - (lastUpdate ?? start) >= .milliseconds(100) else { return }
    lastUpdate = now
    show(done, stream, elapsed: now - start, phase: phase)
  }

  /// Removes the line of a single input, or writes the last line of JSON for this input.
  func finish(_ done: (frames: Int, bytes: Int?)?, of stream: StreamProgress? = nil) {
    switch style {
    case .json: show(done, stream, elapsed: .now - start, phase: "done")
    case .bar where !isBatch: clear()
    default: break
    }
  }

  /// Removes the line, for other output.
  func clear() {
    guard shownWidth > 0 else { return }
    FileDescriptor.note("\r" + erase(after: 0) + (isDumb ? "\r" : ""))
    shownWidth = 0
    // The line comes back with the next update.
    lastUpdate = nil
  }

  /// Removes the line, and prints a summary of several inputs: for programs and on terminals, or if any failed.
  ///
  /// - Parameter isQuiet: Whether only failures are reported.
  func summarize(isQuiet: Bool = false) {
    clear()
    guard summary.fileCount > 1 else { return }
    if style == .json {
      var json = JSONWriter()
      json.object { summary.write(to: &$0) }
      FileDescriptor.note(String(decoding: json.bytes, as: UTF8.self) + "\n")
    } else if style == .bar && !isQuiet || !summary.isWhole {
      FileDescriptor.note("zoetrope: \(summary.text)\n")
    }
  }

  private func show(
    _ done: (frames: Int, bytes: Int?)?, _ stream: StreamProgress?,
    elapsed: ContinuousClock.Instant.Duration, phase: String
  ) {
    if style == .json {
      note(done, stream, phase: phase)
      return
    }
    let width = Self.terminalWidth
    let text: String?
    if isBatch, let number, inputs.indices.contains(number) {
      text = BatchLine(
        number: number + 1, count: inputs.count, name: inputs[number].shortName,
        done: done?.frames ?? 0, total: stream?.total ?? total,
        bytes: done?.bytes.map { $0 + earlierBytes },
        secondsLeft: isChecking ? nil : secondsLeft(done?.frames ?? 0, elapsed: elapsed),
        isChecking: isChecking
      ).text(width: width)
    } else if let stream {
      text = StreamLine(progress: stream, done: done?.frames, hasBlocks: hasBlocks).text(
        width: width)
    } else {
      text =
        ProgressBar(
          done: done?.frames ?? 0, total: total ?? 0, bytes: done?.bytes, elapsed: elapsed,
          hasBlocks: hasBlocks, attempt: attempt
        ).line(width: width)
    }
    guard let line = text else { return }
    let columns = TerminalText.columns(of: line)
    FileDescriptor.note("\r\(line)" + erase(after: columns))
    shownWidth = columns
  }

  /// Writes a line of JSON.
  private func note(
    _ done: (frames: Int, bytes: Int?)?, _ stream: StreamProgress?, phase: String
  ) {
    var json = JSONWriter()
    json.object {
      $0.field("phase", isChecking ? "open" : phase)
      if let number, inputs.indices.contains(number) {
        $0.field("file", inputs[number].fileName, base64Key: "file_base64")
        $0.field("position", number + 1)
        $0.field("files", inputs.count)
      }
      if let attempt { $0.field("attempt", attempt) }
      $0.field("done", done?.frames)
      $0.field("total", stream?.total ?? total)
      $0.field("bytes", done?.bytes)
      if let stream {
        $0.field("frames_received", stream.frameCount)
        $0.field("bytes_received", stream.byteCount)
      }
    }
    FileDescriptor.note(String(decoding: json.bytes, as: UTF8.self) + "\n")
  }

  /// The seconds that all remaining work will take at the speed so far; nil if that is not known yet.
  private func secondsLeft(_ done: Int, elapsed: Duration) -> Int? {
    guard let number, weights.indices.contains(number), elapsed >= .milliseconds(500) else {
      return nil
    }
    let part = total.map { $0 > 0 ? Double(min(done, $0)) / Double($0) : 0 } ?? 0
    let finished = Double(doneWeight) + Double(weights[number]) * part
    guard finished > 0 else { return nil }
    let left = elapsed / .seconds(1) / finished * (Double(totalWeight) - finished)
    return left < 1e9 ? Int(left.rounded(.up)) : nil
  }

  /// Erases the previous line beyond `width` columns; uses spaces on a dumb terminal.
  private func erase(after width: Int) -> String {
    isDumb ? String(repeating: " ", count: max(0, shownWidth - width)) : "\u{1b}[K"
  }

  private static var terminalWidth: Int { FileDescriptor.standardError.terminalSize?.columns ?? 80 }
}

/// The progress line of several inputs: `[37/500] penguins.png  12/86  4.1 MB  2 min left`.
struct BatchLine: Hashable {
  /// The number of the input, from 1.
  let number: Int
  let count: Int
  let name: String
  let done: Int
  /// The number of frames of the input; nil if unknown.
  let total: Int?
  /// Bytes written so far for all inputs; nil if nothing is written.
  let bytes: Int?
  let secondsLeft: Int?
  /// Whether it is only opened, before anything is written.
  var isChecking = false

  /// The line for a terminal of `width` columns; nil if it does not fit. The name is shortened before other parts
  /// are left out.
  func text(width: Int) -> String? {
    guard width >= 20 else { return nil }
    let start = "[\(number)/\(count)] "
    var rest = isChecking && width >= 50 ? "  checking names" : ""
    if let total { rest += "  \(done)/\(total)" }
    if width >= 50, let bytes { rest += "  \(bytes.byteSize)" }
    if width >= 40, let secondsLeft { rest += "  \(Self.time(secondsLeft)) left" }
    // The last column stays empty, because some terminals wrap when it is filled.
    let room = width - 1 - start.count - rest.count
    guard room >= 4 else { return String(start.prefix(width - 1)) }
    return start + TerminalText.sanitized(name, limit: room) + rest
  }

  /// A time such as `45 s`, `2 min` or `1 h 5 min`.
  static func time(_ seconds: Int) -> String {
    if seconds < 90 { return "\(seconds) s" }
    let minutes = (seconds + 30) / 60
    return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
  }
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
  /// The attempt to meet a byte budget, from 1; nil if there is no budget. The frames start over with each attempt, and
  /// the number of attempts is unknown.
  var attempt: Int?

  /// The line for a terminal of `width` columns; nil if it does not fit.
  func line(width: Int) -> String? {
    guard width >= 20, total > 0 else { return nil }
    var text = " \(done)/\(total) frames"
    if width >= 40, let attempt { text += " of attempt \(attempt)" }
    if width >= 50, let bytes { text += "  \(Self.size(bytes))" }
    if width >= 60, let left = secondsLeft { text += "  \(BatchLine.time(left)) left" }
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
    guard done > 0, attempt == nil, elapsed >= .milliseconds(500) else { return nil }
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
