import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// The line of text below the picture.
///
/// On a narrow screen, the least important parts are left out, from the last case of ``Part`` to the first. The name of
/// the file is shortened first if the part to be left out is more important than the full name.
struct StatusLine: Sendable {
  /// The number of the file and the number of files, or nil if there is only one file.
  var file: (number: Int, count: Int)?
  var name = ""
  var size = PixelSize(width: 0, height: 0)
  var format: AnimationFormat
  /// The index of the frame. The line shows frame numbers, which count from 1.
  var index = 0
  var count = 1
  var time = Duration.zero
  var duration = Duration.zero
  var rate = 1.0
  var isReversed = false
  var play = 0
  var plays = PlayCount.indefinite
  var mode = ""
  /// The factor by which the zoom keys have enlarged the picture.
  var zoom = 1.0
  var isPaused = false
  var isEnded = false
  /// Whether the file is a still picture, for which neither frame numbers nor times are shown.
  var isStill = false
  /// The number of bytes received of a stream that has not ended, or nil if there is no such stream.
  var received: Int?
  /// Whether the file is a stream that ended before its animation was complete.
  var isCut = false
  /// Whether some data of the file, or of the frame, was lost.
  var isDamaged = false
  /// The repeated section. The range is empty while only the start of the section is set.
  var section: Range<Int>?
  /// A temporary message, for example the name of a file to which a frame was saved.
  var message: String?
  /// A note on the frame, which is shown in views other than the plain view.
  var note: String?
  /// The times for which the frames are shown, in milliseconds, to be drawn as bars. The array is nil if no bars are
  /// shown.
  var timeline: [Int]?
  /// The details that the key `i` shows, or nil if they are hidden.
  var details: String?

  /// The parts of the line, from the most to the least important.
  private enum Part: Int, CaseIterable {
    case frame, name, section, hint, details, note, file, stream, time, zoom, rate, loops, size,
      normalRate, mode

    /// Whether this part is important enough that the name is shortened before the part is left out.
    var outranksName: Bool { rawValue <= Self.time.rawValue }
  }

  /// The parts in the order in which they are shown.
  private static let order: [Part] = [
    .file, .name, .size, .frame, .time, .rate, .normalRate, .loops, .zoom, .section, .stream,
    .mode, .note, .details,
  ]

  /// The parts that are separated from the part before them by a space instead of a bar.
  private static let joined: Set<Part> = [.name, .size, .time, .loops]

  /// The width, in columns, to which a name may be shortened so that more important parts fit.
  private static let leastName = 12

  /// Returns the line, which is at most `columns` wide. The result is empty if the screen is too narrow for a status
  /// line.
  func text(columns: Int) -> String {
    guard columns >= 20 else { return "" }
    if let message { return TerminalText.sanitized(message, limit: columns) }
    if let timeline {
      let head =
        "\(mark)\(place) \(timeline.indices.contains(index) ? timeline[index] : 0) ms "
      let left = columns - TerminalText.columns(of: head)
      return TerminalText.sanitized(
        head + Self.bars(timeline, index: index, columns: left), limit: columns)
    }
    var texts: [Part: String] = [:]
    for part in Part.allCases { texts[part] = text(of: part) }
    let shortName = TerminalText.sanitized(name, limit: Self.leastName)
    for part in Part.allCases.reversed() {
      let excess = Self.width(of: texts) + 2 - columns
      if excess <= 0 { break }
      let nameWidth = TerminalText.columns(of: texts[.name] ?? "")
      let least = TerminalText.columns(of: shortName)
      if part.outranksName, nameWidth - excess >= least {
        texts[.name] = TerminalText.sanitized(name, limit: nameWidth - excess)
        break
      }
      if part == .name {
        let left = nameWidth - excess
        texts[.name] = left > 3 ? TerminalText.sanitized(name, limit: left) : nil
      } else if part != .frame {
        texts[part] = nil
      }
    }
    let left = mark + Self.body(texts)
    guard let hint = texts[.hint] else { return TerminalText.sanitized(left, limit: columns) }
    let gap = columns - TerminalText.columns(of: left) - hint.count
    return TerminalText.sanitized(
      left + String(repeating: " ", count: max(gap, 1)) + hint, limit: columns)
  }

  private var mark: String {
    if isStill { return "" }
    return isEnded ? "■ " : isPaused ? "‖ " : isReversed ? "◂ " : "▸ "
  }

  /// The number of the frame and the number of frames, followed by a `+` if more frames may arrive.
  private var place: String {
    "\(count == 0 ? 0 : index + 1)/\(count)\(received == nil ? "" : "+")"
  }

  /// Returns the number of columns that these parts take, without the mark at the beginning.
  private static func width(of texts: [Part: String]) -> Int {
    let hint = texts[.hint].map { $0.count + 2 } ?? 0
    return TerminalText.columns(of: body(texts)) + hint
  }

  private static func body(_ texts: [Part: String]) -> String {
    var line = ""
    for part in order {
      guard let text = texts[part] else { continue }
      if !line.isEmpty { line += joined.contains(part) ? " " : " | " }
      line += text
    }
    return line
  }

  /// The speed. A minus sign precedes it if playback is reversed, because the mark at the beginning of the line shows
  /// the direction only during playback.
  private var rateText: String { "\(isReversed ? "-" : "")\(Self.hundredths(rate))x" }

  private func text(of part: Part) -> String? {
    switch part {
    case .frame where isStill: return "still picture"
    case .time, .rate, .normalRate, .loops, .section:
      if isStill { return nil }
    default: break
    }
    switch part {
    case .file: return file.map { "[\($0.number)/\($0.count)]" }
    case .name: return TerminalText.sanitized(name, limit: 256)
    case .size: return "\(size) \(format.displayName)"
    case .frame: return place
    case .time: return "\(Self.seconds(time))/\(Self.seconds(duration)) s"
    case .rate: return rate == 1 && !isReversed ? nil : rateText
    case .normalRate: return rate == 1 && !isReversed ? rateText : nil
    case .loops:
      return switch plays {
      case .indefinite: "loop \(play + 1)"
      case .finite(let total): "loop \(play + 1)/\(total)"
      }
    case .zoom: return zoom == 1 ? nil : "zoom \(Int((zoom * 100).rounded())) %"
    case .section:
      return section.map {
        $0.isEmpty
          ? "section \($0.lowerBound + 1)-" : "section \($0.lowerBound + 1)-\($0.upperBound)"
      }
    case .stream:
      let parts = [
        received.map { "\($0.byteSize) received" },
        isCut ? "cut short" : isDamaged ? "damaged" : nil,
      ]
      let text = parts.compactMap { $0 }.joined(separator: " | ")
      return text.isEmpty ? nil : text
    case .mode: return mode.isEmpty ? nil : mode
    case .note: return note
    case .details: return details
    case .hint where isStill: return isEnded ? "q quits  ? help" : "? help"
    case .hint: return isEnded ? "q quits, space plays again" : "? help"
    }
  }

  /// Returns at most `columns` bars that show the delays of the frames. A vertical line marks the current frame.
  static func bars(_ timeline: [Int], index: Int, columns: Int) -> String {
    let count = min(max(columns, 0), timeline.count)
    guard count > 0, let longest = timeline.max(), longest > 0 else { return "" }
    let bars = Array("▁▂▃▄▅▆▇█")
    return String(
      (0..<count).map { place in
        // If a bar represents several frames, it shows the longest of their delays.
        let frames = place * timeline.count / count..<(place + 1) * timeline.count / count
        if frames.contains(index) { return "│" }
        return bars[(timeline[frames].max() ?? 0) * (bars.count - 1) / longest]
      })
  }

  /// Returns the bytes that show `text` in row `row` of a screen of `columns` columns. They leave the cursor and the
  /// colours unchanged.
  static func bytes(_ text: String, row: Int, columns: Int) -> [UInt8] {
    // If `text` reaches the last column, the rest of the row must not be erased: that would erase the last character.
    let rest = TerminalText.columns(of: text) < columns ? "\u{1B}[K" : ""
    return Array("\u{1B}7\u{1B}[\(row + 1);1H\u{1B}[m\(text)\(rest)\u{1B}8".utf8)
  }

  static func seconds(_ time: Duration) -> String { hundredths(time / .seconds(1)) }

  private static func hundredths(_ value: Double) -> String {
    let whole = Int((value * 100).rounded())
    let rest = whole % 100
    return "\(whole / 100).\(rest < 10 ? "0" : "")\(rest)"
  }
}
