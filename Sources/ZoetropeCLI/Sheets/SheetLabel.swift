import ArgumentParser
import Zoetrope

/// What stands below each frame of a sheet.
enum SheetLabel: String, ExpressibleByArgument, CaseIterable, Sendable {
  case none, index, time

  /// The text below a frame that is first shown at `time`.
  func text(index: Int, time: Duration) -> String {
    switch self {
    case .none: return ""
    case .index: return String(index)
    case .time:
      // Thousandths of a millisecond are dropped, minutes split off.
      let milliseconds = Decimal(time).thousandths / 1000
      let seconds = Decimal(thousandths: milliseconds % 60_000)
      guard milliseconds >= 60_000 else { return "\(seconds)s" }
      let padded = seconds.thousandths < 10_000 ? "0\(seconds)" : "\(seconds)"
      return "\(milliseconds / 60_000)m\(padded)s"
    }
  }
}

/// The letters of labels, five pixels wide and seven high.
enum SheetFont {
  static let height = 7
  /// From one letter to the next.
  static let advance = 6

  /// The width of `text` in pixels, without the space behind it.
  static func width(of text: String) -> Int { max(text.count * advance - 1, 0) }

  /// The rows of a letter from the top, each with its leftmost pixel in bit 4; nil for a letter that
  /// no label has.
  static func rows(of letter: Character) -> [UInt8]? { letters[letter] }

  private static let letters: [Character: [UInt8]] = [
    "0": [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    "1": [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    "2": [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
    "3": [0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110],
    "4": [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    "5": [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    "6": [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    "7": [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    "8": [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    "9": [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
    ".": [0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100],
    "m": [0b00000, 0b00000, 0b11010, 0b10101, 0b10101, 0b10101, 0b10101],
    "s": [0b00000, 0b00000, 0b01111, 0b10000, 0b01110, 0b00001, 0b11110],
  ]
}
