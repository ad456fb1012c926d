import ZoetropeTerminal

/// Maps keys to actions. Actions that also exist in `mpv` or `less` have the same keys as in these programs.
///
/// A reducer is a value whose only state is the number typed so far. Typed frame numbers count from 1, as on the
/// screen, but frames in actions count from 0.
struct KeyReducer: Sendable, Hashable {
  /// The number typed so far, or nil if no digit was typed.
  private(set) var count: Int?

  /// Returns the action for `event`, or nil if the key has no meaning or only extends a number.
  mutating func action(for event: KeyEvent) -> PlayerAction? {
    if case .character(let character) = event.key, event.modifiers.isEmpty,
      let digit = character.wholeNumberValue, character.isASCII, digit > 0 || count != nil
    {
      // The number is limited to eight digits, because no frame index has more.
      count = min((count ?? 0) * 10 + digit, 99_999_999)
      return nil
    }
    defer { count = nil }
    if let pan = Self.pan(event) { return pan }
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
    case .tab, .function(8): return .showList
    case .insert, .delete, .function: return nil
    }
  }

  /// The distance by which a key moves the visible part, as a fraction of the visible part's size.
  private static let panStep = 0.125

  /// Returns the action for a key that moves the visible part, or nil for other keys. The visible part is moved by the
  /// arrows with Alt or Ctrl, as in `mpv`, and by h, j, k and l with Alt.
  private static func pan(_ event: KeyEvent) -> PlayerAction? {
    guard !event.modifiers.isDisjoint(with: [.alt, .control]) else { return nil }
    let hasAlt = event.modifiers.contains(.alt)
    return switch event.key {
    case .left: .pan(x: -panStep, y: 0)
    case .right: .pan(x: panStep, y: 0)
    case .up: .pan(x: 0, y: -panStep)
    case .down: .pan(x: 0, y: panStep)
    case .character("h") where hasAlt: .pan(x: -panStep, y: 0)
    case .character("l") where hasAlt: .pan(x: panStep, y: 0)
    case .character("k") where hasAlt: .pan(x: 0, y: -panStep)
    case .character("j") where hasAlt: .pan(x: 0, y: panStep)
    default: nil
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
    case "g": .seekToFrame(max(count ?? 1, 1) - 1)
    case "G": count.map { .seekToFrame(max($0, 1) - 1) } ?? .seekToEnd
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
