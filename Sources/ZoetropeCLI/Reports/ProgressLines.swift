import ArgumentParser
import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// The progress line of a command with several inputs: `[37/500] penguins.png  12/86  4.1 MB  2 min left`.
struct BatchLine: Hashable {
  /// The position of the current input among all inputs, from 1.
  let number: Int
  let count: Int
  let name: String
  let done: Int
  /// The number of frames of the current input, or nil if unknown.
  let total: Int?
  /// The number of bytes written so far for all inputs, or nil if nothing is written.
  let bytes: Int?
  let secondsLeft: Int?
  /// Whether the input is only being opened to check names, before anything is written.
  var isChecking = false

  /// Returns the line for a terminal of `width` columns, or nil for fewer than 20 columns. On narrow terminals, some
  /// parts are left out, and the name is shortened. If there is no room for four columns of the name, the line contains
  /// only the position of the input.
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

  /// Returns a time for people, such as `45 s`, `2 min` or `1 h 5 min`.
  static func time(_ seconds: Int) -> String {
    if seconds < 90 { return "\(seconds) s" }
    let minutes = (seconds + 30) / 60
    return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
  }
}

/// The progress line of a command with one input, or with inputs that it processes together.
struct ProgressBar: Hashable {
  let done: Int
  let total: Int
  /// The number of bytes written so far, or nil if nothing is written.
  let bytes: Int?
  let elapsed: Duration
  /// Whether the terminal shows block characters. Otherwise the bar consists of `#`.
  var hasBlocks = true
  /// The number of the current attempt to meet a byte budget, from 1, or nil if there is no budget. Each attempt counts
  /// its frames again, and the total number of attempts is not known in advance.
  var attempt: Int?
  /// Whether that attempt only estimates the size of a file.
  var isSample = false

  /// Returns the line for a terminal of `width` columns, or nil if the terminal is too narrow or there are no frames.
  func line(width: Int) -> String? {
    guard width >= 20, total > 0 else { return nil }
    var text = " \(done)/\(total) frames"
    if width >= 40, let attempt { text += " of attempt \(attempt)" }
    if width >= 60, isSample { text += " (a sample)" }
    if width >= 50, let bytes { text += "  \(bytes.byteSize)" }
    if width >= 60, let left = secondsLeft { text += "  \(BatchLine.time(left)) left" }
    // The last column stays empty, because some terminals wrap when it is filled.
    let room = min(40, width - 1 - text.count)
    return room >= 4 ? bar(width: room) + text : text
  }

  /// Returns a bar that is drawn in eighths of a column, or in whole columns without block characters.
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
    let seconds = elapsed / .seconds(1)
    return Int((seconds / Double(done) * Double(total - done)).rounded(.up))
  }
}

/// The progress line of an input whose bytes are still arriving.
struct StreamLine: Hashable {
  let progress: StreamProgress
  /// The number of frames written, or nil if the command writes no frames.
  let done: Int?
  /// Whether the terminal shows block characters. Otherwise the bar consists of `#`.
  var hasBlocks = true

  /// Returns the line for a terminal of `width` columns, or nil if the terminal is too narrow. The line has a bar if
  /// the file announces its number of frames.
  func text(width: Int) -> String? {
    guard width >= 20 else { return nil }
    let known = progress.frameCount
    var text = done.map { " \($0)/\(known)" } ?? " \(known)"
    let total = progress.total
    if let total, total > known { text += " of \(total)" }
    text += " frame\(known == 1 && total ?? 1 == 1 ? "" : "s")"
    if width >= 50 { text += "  \(progress.byteCount.byteSize) received" }
    // The last column stays empty, because some terminals wrap when it is filled.
    let room = min(40, width - 1 - text.count)
    guard room >= 0 else { return nil }
    guard let total, total > 0, room >= 4 else { return String(text.dropFirst()) }
    let bar = ProgressBar(
      done: done ?? known, total: total, bytes: nil, elapsed: .zero, hasBlocks: hasBlocks)
    return bar.bar(width: room) + text
  }
}
