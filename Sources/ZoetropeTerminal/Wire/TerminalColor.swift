/// A colour in the form in which it is sent to a terminal: 24 bits, a palette entry, or the terminal's default.
@frozen
package struct TerminalColor: Sendable, Hashable, BitwiseCopyable {
  /// The kind of colour in the top byte (0 for RGB, 1 for 256 colours, 2 for 16 colours, 3 for the default), and the
  /// value in the other bytes.
  let word: UInt32

  init(word: UInt32) { self.word = word }

  /// Creates a colour with 8 bits per channel.
  package init(red: UInt8, green: UInt8, blue: UInt8) {
    word = UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
  }

  /// Returns entry `index` of the 256-colour palette.
  package static func indexed(_ index: UInt8) -> TerminalColor {
    TerminalColor(word: 0x0100_0000 | UInt32(index))
  }

  /// Returns entry `index` (0 to 15) of the 16-colour palette.
  package static func basic(_ index: UInt8) -> TerminalColor {
    TerminalColor(word: 0x0200_0000 | UInt32(index & 15))
  }

  /// The terminal's own foreground or background colour.
  package static let `default` = TerminalColor(word: 0x0300_0000)

  var kind: UInt8 { UInt8(truncatingIfNeeded: word >> 24) }
  var red: UInt8 { UInt8(truncatingIfNeeded: word >> 16) }
  var green: UInt8 { UInt8(truncatingIfNeeded: word >> 8) }
  var blue: UInt8 { UInt8(truncatingIfNeeded: word) }

  /// Returns the largest difference of the two colours in any channel; 256 if they are of different kinds or different
  /// palette entries.
  @inline(__always)
  func distance(to other: TerminalColor) -> Int {
    if word == other.word { return 0 }
    guard word | other.word < 0x0100_0000 else { return 256 }
    let red = abs(Int(word >> 16) - Int(other.word >> 16))
    let green = abs(Int(word >> 8 & 255) - Int(other.word >> 8 & 255))
    let blue = abs(Int(word & 255) - Int(other.word & 255))
    return max(red, green, blue)
  }
}
