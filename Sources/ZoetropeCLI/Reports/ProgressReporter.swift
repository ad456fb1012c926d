import ArgumentParser
import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// Reports the progress of a command on standard error: on a terminal as one line for all inputs, for programs as lines
/// of JSON.
final class ProgressReporter {
  private let style: ProgressStyle
  /// The name of the current phase of the work, for JSON.
  private var phase: String
  private var start = ContinuousClock.now
  /// Whether inputs are only being opened, before the work on them begins.
  private var isChecking = false
  private var lastUpdate: ContinuousClock.Instant?
  /// The width of the line that the terminal shows, in columns; 0 if it shows no line.
  private var shownWidth = 0
  private let hasBlocks = TerminalEnvironment.current.localeHasUTF8 ?? false
  private let isDumb = ["", "dumb"].contains(environmentVariable("TERM") ?? "")
  /// The inputs of the command; empty if the command processes its inputs together.
  private let inputs: [InputFile]
  /// The work on all inputs, or nil unless a progress line is shown for several inputs.
  private let work: BatchWork?
  /// The position of the current input, from 0, or nil before the first input.
  private var number: Int?
  /// The number of frames of the current input, or nil if unknown. The number of frames of a stream is found in its
  /// ``StreamProgress``.
  private var total: Int?
  /// The number, from 1, of the current attempt, if several files are encoded to choose one. Otherwise nil.
  private var attempt: Int?
  /// Whether the next update is reported at once.
  private var isDue = false
  /// Whether that attempt only estimates the size of a file.
  private var isSample = false
  /// The number of bytes written for the inputs before the current one.
  private var earlierBytes = 0
  private(set) var summary: BatchSummary

  /// Creates a reporter. The style `auto` shows a line if standard error is a terminal, otherwise nothing.
  ///
  /// - Parameters:
  ///   - total: The number of frames, for a command that does not call ``begin(_:)`` for each of `inputs`.
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
    work =
      self.style == .bar && inputs.count > 1
      ? BatchWork(inputs.map { $0.path.flatMap { FileStatus(at: $0) }?.byteCount ?? 0 }) : nil
    summary = BatchSummary(writes: writes)
  }

  /// Whether a failure to write has ended the command before its last input.
  var isCutShort = false

  /// Whether the command has several inputs.
  private var isBatch: Bool { inputs.count > 1 }

  /// Reports that input `number` is being checked, before the work on any input begins.
  func check(_ number: Int) {
    (self.number, isChecking) = (number, true)
    update(nil)
  }

  /// Reports that the work on input `number` begins. By default, that is the next input.
  func begin(_ number: Int? = nil) {
    if isChecking { (isChecking, start) = (false, .now) }
    let next = number ?? (self.number ?? -1) + 1
    (self.number, total) = (next, nil)
    update(nil)
  }

  /// Sets the number of frames of the current input.
  func expect(_ total: Int?) { self.total = total }

  /// Begins another phase of the work on the current input, which counts its `total` frames and its attempts anew.
  func enter(_ phase: String, total: Int? = nil) {
    (self.phase, self.total) = (phase, total)
    (attempt, isSample, isDue) = (nil, false, false)
    // The speed of another phase says nothing about the time left, which is that of all inputs if there are several.
    if !isBatch { (start, lastUpdate) = (.now, nil) }
  }

  /// Sets the number of frames of the current attempt. With the style `json`, the first update of each attempt is
  /// reported.
  func expect(_ made: WritingProgress) {
    if style == .json, made.attempt != attempt { isDue = true }
    (total, attempt, isSample) = (made.totalFrameCount, made.attempt, made.isSample)
  }

  /// Reports the outcome of the current input.
  func end(_ condition: InputCondition, frames: Int = 0, bytes: Int = 0) {
    summary.add(condition, frames: frames, bytes: bytes)
    earlierBytes += bytes
  }

  /// Reports the number of frames and bytes that are done, at most ten times a second. If `stream` is not nil, also
  /// reports its progress.
  func update(_ done: (frames: Int, bytes: Int?)?, of stream: StreamProgress? = nil) {
    guard style != .none else { return }
    let now = ContinuousClock.now
    // A command that takes less than a tenth of a second shows no progress line.
    guard isDue || now - (lastUpdate ?? start) >= .milliseconds(100) else { return }
    (lastUpdate, isDue) = (now, false)
    show(done, stream, elapsed: now - start, phase: phase)
  }

  /// Removes the progress line if there is only one input. With the style `json`, instead writes the last line about
  /// the current input.
  func finish(_ done: (frames: Int, bytes: Int?)?, of stream: StreamProgress? = nil) {
    switch style {
    case .json: show(done, stream, elapsed: .now - start, phase: "done")
    case .bar where !isBatch: clear()
    default: break
    }
  }

  /// Removes the progress line, so that other output can be written.
  func clear() {
    guard shownWidth > 0 else { return }
    FileDescriptor.note("\r" + erase(after: 0) + (isDumb ? "\r" : ""))
    shownWidth = 0
    // The next update shows the line again immediately.
    lastUpdate = nil
  }

  /// Removes the progress line. If there are several inputs, also prints a summary. Unless the style is `json` or
  /// `bar`, the summary is printed only if an input failed or is damaged, or if inputs were not reached.
  ///
  /// - Parameter isQuiet: Whether that condition also applies to the style `bar`.
  func summarize(isQuiet: Bool = false) {
    clear()
    let isCutShort = isCutShort || Signals.ending != nil
    let skipped = isCutShort ? max(inputs.count - summary.fileCount, 0) : 0
    guard summary.fileCount + skipped > 1 else { return }
    if style == .json {
      var json = JSONWriter()
      json.object { summary.write(to: &$0, skipped: skipped) }
      FileDescriptor.note(String(decoding: json.bytes, as: UTF8.self) + "\n")
    } else if style == .bar && !isQuiet || !summary.isWhole || skipped > 0 {
      FileDescriptor.note("zoetrope: \(summary.text(skipped: skipped))\n")
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
          hasBlocks: hasBlocks, attempt: attempt, isSample: isSample
        ).line(width: width)
    }
    guard let line = text else { return }
    let columns = TerminalText.columns(of: line)
    FileDescriptor.note("\r\(line)" + erase(after: columns))
    shownWidth = columns
  }

  /// Writes the progress as a line of JSON.
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
      if let attempt {
        $0.field("attempt", attempt)
        $0.field("sample", isSample)
      }
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

  /// Returns the estimated number of seconds for all remaining work, at the average speed so far. Returns nil if the
  /// speed is not known yet.
  private func secondsLeft(_ done: Int, elapsed: Duration) -> Int? {
    guard let work, let number, elapsed >= .milliseconds(500) else { return nil }
    let part = total.map { $0 > 0 ? Double(min(done, $0)) / Double($0) : 0 } ?? 0
    return work.secondsLeft(input: number, part: part, elapsed: elapsed)
  }

  /// Returns the text that erases the rest of the previous line, after the first `width` columns. On a dumb terminal,
  /// the text consists of spaces.
  private func erase(after width: Int) -> String {
    isDumb ? String(repeating: " ", count: max(0, shownWidth - width)) : "\u{1b}[K"
  }

  private static var terminalWidth: Int { FileDescriptor.standardError.terminalSize?.columns ?? 80 }
}

/// The work on the inputs of a command, for estimating the time left.
struct BatchWork {
  /// The approximate amount of work before each input and, as the last element, for all inputs.
  private var before = [0.0]

  init(_ byteCounts: [Int]) {
    for count in byteCounts {
      // Opening a file takes about as long as decoding 4 kilobytes of it.
      before.append(before[before.count - 1] + 4096 + Double(count))
    }
  }

  /// Returns the estimated number of seconds for all remaining work, at the average speed so far. Returns nil if the
  /// speed is not known yet or there is no such input.
  ///
  /// - Parameters:
  ///   - input: The position of the current input, from 0.
  ///   - part: The fraction of the current input that is done.
  func secondsLeft(input: Int, part: Double, elapsed: Duration) -> Int? {
    guard before.indices.contains(input), before.indices.contains(input + 1) else { return nil }
    let finished = before[input] + (before[input + 1] - before[input]) * part
    guard finished > 0 else { return nil }
    let left = elapsed / .seconds(1) * (before[before.count - 1] / finished - 1)
    return left < 1e9 ? Int(left.rounded(.up)) : nil
  }
}

extension StreamProgress {
  /// The total number of frames. After the stream has ended, this is the number of frames that arrived. Before that, it
  /// is the number that the file announces, or nil if the file announces none or fewer than have arrived.
  var total: Int? {
    if ending != nil { return frameCount }
    return announcedFrameCount.flatMap { $0 >= max(frameCount, 1) ? $0 : nil }
  }
}

/// The way in which a long command reports its progress.
enum ProgressStyle: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, bar, json, none
}
