import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// The line below the picture, as a function of its contents.
struct StatusLine: Sendable, Hashable {
  var name = ""
  var size = PixelSize(width: 0, height: 0)
  var format = AnimationFormat.gif
  var index = 0
  var count = 1
  var time = Duration.zero
  var duration = Duration.zero
  var rate = 1.0
  var isReversed = false
  var play = 0
  var plays = PlayCount.indefinite
  var mode = ""
  var isPaused = false
  var isEnded = false
  /// The bytes received of a stream that has not ended; nil otherwise.
  var received: Int?
  /// Whether a stream ended before its animation was complete.
  var isCut = false
  /// A temporary message, such as where a frame was saved.
  var message: String?
  /// A note on the frame, in views other than the plain one.
  var note: String?
  /// How long each frame is shown, in milliseconds, for the bars; nil for none.
  var timeline: [Int]?
  /// The details that `i` adds.
  var details: String?

  /// The line, at most `columns` wide; empty on a screen too narrow for one.
  func text(columns: Int) -> String {
    guard columns >= 20 else { return "" }
    if let message { return TerminalText.sanitized(message, limit: columns) }
    let mark = isEnded ? "■ " : isPaused ? "‖ " : isReversed ? "◂ " : "▸ "
    // More frames may follow the last one that has arrived.
    let place = "\(count == 0 ? 0 : index + 1)/\(count)\(received == nil ? "" : "+")"
    let safeName = TerminalText.sanitized(name, limit: max(columns / 3, 8))
    if let timeline {
      let head = "\(mark)\(place) \(timeline.indices.contains(index) ? timeline[index] : 0) ms "
      let left = columns - TerminalText.columns(of: head)
      return head + Self.bars(timeline, index: index, columns: left)
    }
    var parts = ["\(safeName) \(size) \(format == .gif ? "GIF" : "PNG")"]
    if columns < 60 {
      return TerminalText.sanitized("\(mark)\(place) \(safeName)", limit: columns)
    }
    parts.append("\(place) \(Self.seconds(time))/\(Self.seconds(duration)) s")
    let loops: String =
      switch plays {
      case .indefinite: "loop \(play + 1)"
      case .finite(let total): "loop \(play + 1)/\(total)"
      }
    // The leading mark shows the direction only while playing.
    parts.append("\(isReversed ? "-" : "")\(Self.hundredths(rate))x \(loops)")
    if let received { parts.append("\(received.byteSize) received") }
    if isCut { parts.append("cut short") }
    parts.append(mode)
    if let note { parts.append(note) }
    if let details { parts.append(details) }
    if isEnded { parts.append("q quits, space plays again") }
    return TerminalText.sanitized(mark + parts.joined(separator: " | "), limit: columns)
  }

  /// Bars for the delays of the frames, at most `columns` of them; the current frame is a line.
  static func bars(_ timeline: [Int], index: Int, columns: Int) -> String {
    let count = min(max(columns, 0), timeline.count)
    guard count > 0, let longest = timeline.max(), longest > 0 else { return "" }
    let bars = Array("▁▂▃▄▅▆▇█")
    return String(
      (0..<count).map { place in
        // A bar for several frames shows the longest.
        let frames = place * timeline.count / count..<(place + 1) * timeline.count / count
        if frames.contains(index) { return "│" }
        return bars[(timeline[frames].max() ?? 0) * (bars.count - 1) / longest]
      })
  }

  /// The bytes that show `text` on row `row` and keep the cursor and colours.
  static func bytes(_ text: String, row: Int) -> [UInt8] {
    Array("\u{1B}7\u{1B}[\(row + 1);1H\u{1B}[m\(text)\u{1B}[K\u{1B}8".utf8)
  }

  static func seconds(_ time: Duration) -> String {
    let (seconds, attoseconds) = time.components
    return hundredths(Double(seconds) + Double(attoseconds) / 1e18)
  }

  private static func hundredths(_ value: Double) -> String {
    let whole = Int((value * 100).rounded())
    let rest = whole % 100
    return "\(whole / 100).\(rest < 10 ? "0" : "")\(rest)"
  }
}

/// What drawing has cost so far.
struct PlayerStatistics: Sendable, Hashable {
  /// Frames written.
  var shown = 0
  /// Frames skipped because the terminal or the machine was late.
  var dropped = 0
  /// Bytes written for frames.
  var byteCount = 0

  /// For the status line.
  var text: String {
    let perFrame = shown == 0 ? 0 : byteCount / shown
    return "\(perFrame) B/frame, \(dropped) dropped"
  }
}
