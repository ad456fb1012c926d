import ArgumentParser
import ZoetropeTerminal

/// The words of `--bg`: `terminal`, `checker`, `black`, `white` or a colour such as `#336699`.
enum BackdropArgument: ExpressibleByArgument, Hashable {
  /// The terminal's own background; images keep their transparency.
  case terminal
  case checker
  case color(red: UInt8, green: UInt8, blue: UInt8)

  static let cycle: [BackdropArgument] = [
    .terminal, .checker, .color(red: 0, green: 0, blue: 0),
    .color(red: 255, green: 255, blue: 255),
  ]

  init?(argument: String) {
    switch argument {
    case "terminal": self = .terminal
    case "checker": self = .checker
    case "black": self = .color(red: 0, green: 0, blue: 0)
    case "white": self = .color(red: 255, green: 255, blue: 255)
    default:
      let digits = argument.hasPrefix("#") ? argument.dropFirst() : argument[...]
      guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit),
        let value = UInt32(digits, radix: 16)
      else { return nil }
      self = .color(
        red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
        blue: UInt8(truncatingIfNeeded: value))
    }
  }

  var defaultValueDescription: String { name }

  /// For the status line.
  var name: String {
    switch self {
    case .terminal: "terminal"
    case .checker: "checker"
    case .color(0, 0, 0): "black"
    case .color(255, 255, 255): "white"
    case .color: "colour"
    }
  }

  /// Nil for the terminal's own.
  var backdrop: Backdrop? {
    switch self {
    case .terminal: nil
    case .checker: .checker
    case .color(let red, let green, let blue): .color(red: red, green: green, blue: blue)
    }
  }
}
