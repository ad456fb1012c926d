import ArgumentParser
import Zoetrope

/// The text below each frame of a sheet.
enum SheetLabel: String, ExpressibleByArgument, CaseIterable, Sendable {
  case none, index, time

  /// The text below a frame that is first shown at `time`.
  func text(index: Int, time: Duration) -> String {
    switch self {
    case .none: return ""
    case .index: return String(index)
    case .time:
      // Fractions of a millisecond are dropped; minutes are separate.
      let milliseconds = Decimal(time).thousandths / 1000
      let seconds = Decimal(thousandths: milliseconds % 60_000)
      guard milliseconds >= 60_000 else { return "\(seconds)s" }
      let padded = seconds.thousandths < 10_000 ? "0\(seconds)" : "\(seconds)"
      return "\(milliseconds / 60_000)m\(padded)s"
    }
  }
}

/// The font of labels, five pixels wide and seven high.
enum SheetFont {
  static let height = 7
  /// The distance from one letter to the next.
  static let advance = 6

  /// The width of `text` in pixels, without trailing space.
  static func width(of text: String) -> Int { max(text.count * advance - 1, 0) }

  /// The rows of a letter from the top, with the leftmost pixel in bit 4; nil for letters that no label uses.
  static func rows(of letter: Character) -> [UInt8]? { letters[letter] }

  private static let names = "0123456789.ms"

  /// The letters of ``names`` side by side, with one column between them.
  private static let drawing = """
    .###. ..#.. .###. ##### ...#. ##### ..##. ##### .###. .###. ..... ..... .....
    #...# .##.. #...# ...#. ..##. #.... .#... ....# #...# #...# ..... ..... .....
    #..## ..#.. ....# ..#.. .#.#. ####. #.... ...#. #...# #...# ..... ##.#. .####
    #.#.# ..#.. ..##. ...#. #..#. ....# ####. ..#.. .###. .#### ..... #.#.# #....
    ##..# ..#.. .#... ....# ##### ....# #...# .#... #...# ....# ..... #.#.# .###.
    #...# ..#.. #.... #...# ...#. #...# #...# .#... #...# ...#. .##.. #.#.# ....#
    .###. .###. ##### .###. ...#. .###. .###. .#... .###. .##.. .##.. #.#.# ####.
    """

  private static let letters: [Character: [UInt8]] = {
    let lines = drawing.split(separator: "\n").map { Array($0.utf8) }
    var letters: [Character: [UInt8]] = [:]
    for (index, name) in names.enumerated() {
      let columns = index * advance..<index * advance + advance - 1
      letters[name] = lines.map { line in
        line[columns].reduce(0) { $0 << 1 | ($1 == UInt8(ascii: "#") ? 1 : 0) }
      }
    }
    return letters
  }()
}
