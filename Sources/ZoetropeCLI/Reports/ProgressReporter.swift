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

extension StreamProgress {
  /// The number of frames: those that arrived if the stream has ended, else what the file announces; nil if
  /// that is not credible.
  var total: Int? {
    if ending != nil { return frameCount }
    return announcedFrameCount.flatMap { $0 >= max(frameCount, 1) ? $0 : nil }
  }
}

/// How to report the progress of a long command.
enum ProgressStyle: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, bar, json, none
}
