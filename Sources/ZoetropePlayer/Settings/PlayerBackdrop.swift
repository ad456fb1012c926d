internal import ZoetropeTerminal

/// The background that shows through transparent pixels.
package enum PlayerBackdrop: Sendable, Hashable {
  /// The background of the terminal. Images keep their transparency.
  case terminal
  case checker
  case color(red: UInt8, green: UInt8, blue: UInt8)

  /// The backdrops through which the key `c` steps.
  static let cycle: [PlayerBackdrop] = [
    .terminal, .checker, .color(red: 0, green: 0, blue: 0),
    .color(red: 255, green: 255, blue: 255),
  ]

  /// The name of the backdrop in the status line.
  package var name: String {
    switch self {
    case .terminal: "terminal"
    case .checker: "checker"
    case .color(0, 0, 0): "black"
    case .color(255, 255, 255): "white"
    case .color: "colour"
    }
  }

  /// The backdrop for an encoder, or nil for the terminal's own background.
  var backdrop: Backdrop? {
    switch self {
    case .terminal: nil
    case .checker: .checker
    case .color(let red, let green, let blue): .color(red: red, green: green, blue: blue)
    }
  }
}
