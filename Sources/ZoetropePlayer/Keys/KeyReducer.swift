import ZoetropeTerminal

/// Maps keys to actions, with the keys of mpv and less where they exist.
///
/// A pure value, whose only state is the number typed so far.
struct KeyReducer: Sendable, Hashable {
  /// The number typed so far; nil when there is none.
  private(set) var count: Int?

  /// The action for `event`; nil when it only extends a number or has no meaning.
  mutating func action(for event: KeyEvent) -> PlayerAction? {
    if case .character(let character) = event.key, event.modifiers.isEmpty,
      let digit = character.wholeNumberValue, character.isASCII, digit > 0 || count != nil
    {
      // No frame index has more digits.
      count = min((count ?? 0) * 10 + digit, 99_999_999)
      return nil
    }
    defer { count = nil }
    switch event.key {
    case .character(let character): return action(for: character, event.modifiers)
    case .right: return .seek(by: Self.distance(event))
    case .left: return .seek(by: .zero - Self.distance(event))
    case .up: return .seek(by: Self.distance(event) * 5)
    case .down: return .seek(by: .zero - Self.distance(event) * 5)
    case .home: return .seekToFrame(0)
    case .end: return .seekToEnd
    case .pageDown: return .nextFile
    case .pageUp: return .previousFile
    case .enter: return .nextFile
    case .backspace: return .resetSpeed
    case .escape: return .quit
    case .insert, .delete, .tab, .function: return nil
    }
  }

  private static func distance(_ event: KeyEvent) -> Duration {
    event.modifiers.contains(.shift) ? .milliseconds(100) : .seconds(1)
  }

  private func action(
    for character: Character, _ modifiers: KeyEvent.Modifiers
  ) -> PlayerAction? {
    if modifiers.contains(.control) {
      return switch character {
      case "c": .interrupt
      case "\\": .abort
      case "z": .suspend
      case "l": .repaint
      default: nil
      }
    }
    guard modifiers.isDisjoint(with: [.alt, .super]) else { return nil }
    return switch character {
    case " ", "p": .togglePause
    case ".", "l": .step(count ?? 1)
    case ",", "h": .step(-(count ?? 1))
    case "g": .seekToFrame(count ?? 0)
    case "G": count.map { .seekToFrame($0) } ?? .seekToEnd
    case "]": .scaleSpeed(1.1)
    case "[": .scaleSpeed(1 / 1.1)
    case "}": .scaleSpeed(2)
    case "{": .scaleSpeed(0.5)
    case "r": .reverse
    case "b": .bounce
    case "L": .cycleLoops
    case "f": .cycleFit
    case "c": .cycleBackdrop
    case "v": .cycleMode
    case "+", "=": .zoom(1.25)
    case "-": .zoom(0.8)
    case "0": .zoom(0)
    case "i", "o": .toggleInfo
    case "?": .toggleHelp
    case "n", ">": .nextFile
    case "N", "<": .previousFile
    case "a": .markSection
    case "d": .toggleOutline
    case "D": .toggleStored
    case "m": .toggleMotion
    case "t": .toggleTimeline
    case "s": .saveFrame
    case "S": .saveSection
    case "q": .quit
    default: nil
    }
  }
}

/// What the player does in response to a key.
enum PlayerAction: Sendable, Hashable {
  case togglePause
  /// A number of frames forward, or back.
  case step(Int)
  case seek(by: Duration)
  case seekToFrame(Int)
  case seekToEnd
  /// Multiplies the speed.
  case scaleSpeed(Double)
  case resetSpeed
  case reverse
  case bounce
  case cycleLoops
  case cycleFit
  case cycleBackdrop
  case cycleMode
  /// Multiplies the zoom; 0 resets it.
  case zoom(Double)
  case toggleInfo
  case toggleHelp
  case nextFile
  case previousFile
  /// Sets the start of a repeated section, then its end, then removes it.
  case markSection
  /// Outlines what each frame changes.
  case toggleOutline
  /// Shows the stored pixels of each frame instead of the canvas.
  case toggleStored
  /// Stops on the first frame, or plays again.
  case toggleMotion
  /// Shows the delays of the frames as bars.
  case toggleTimeline
  case saveFrame
  /// Saves the frames of the section, or all frames.
  case saveSection
  case repaint
  case suspend
  case quit
  /// Ctrl-C: quits with status 130.
  case interrupt
  /// Ctrl-\: quits with status 131, without a core file.
  case abort
}

/// The page that `?` shows.
enum PlayerHelp {
  static let lines = [
    "space p     pause, go on            q Esc       quit",
    ". l   , h   one frame on, back      ?           this page",
    "Right Left  1 s (Shift: 0.1 s)      i o         details",
    "Up Down     5 s                     t           delays as bars",
    "Home g  End first, last frame       s  S        save the frame, all frames",
    "12g         frame 12, from 0        PgDn n > Enter   next file",
    "[ ]  { }    speed 10 %, half/double PgUp N <    file before",
    "Backspace   speed 1                 v           way of drawing",
    "r  b        reverse, turn round     f           fit",
    "L           plays: file, once, ever + - 0       zoom",
    "a           section: start, end, off  c         background",
    "m           motion off, on          Ctrl-L      draw again",
    "d  D        what changes, raw frame Ctrl-Z      back to the shell",
  ]

  /// The bytes that show it on a screen of `rows` rows.
  static func bytes(rows: Int) -> [UInt8] {
    var text = "\u{1B}[m\u{1B}[H\u{1B}[J"
    for (row, line) in lines.prefix(max(rows - 1, 0)).enumerated() {
      text += "\u{1B}[\(row + 1);1H\(line)"
    }
    return Array(text.utf8)
  }
}
