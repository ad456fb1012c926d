import ArgumentParser
import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

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
