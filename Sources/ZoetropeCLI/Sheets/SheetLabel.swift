import ArgumentParser
import Zoetrope

/// The text below each frame of a sheet.
enum SheetLabel: String, ExpressibleByArgument, CaseIterable, Sendable {
  case none, index, time

  /// The text below a frame that is first shown at `time`, with `decimals` digits of a second, at most three.
  func text(index: Int, time: Duration, decimals: Int) -> String {
    switch self {
    case .none: return ""
    case .index: return String(index)
    case .time:
      // Fractions of a millisecond are dropped; minutes are separate.
      let milliseconds = Self.milliseconds(time)
      var text = String(milliseconds % 60_000 / 1000)
      if milliseconds >= 60_000 {
        text = "\(milliseconds / 60_000)m" + text.paddedLeft(to: 2, with: "0")
      }
      if decimals > 0 {
        text += "." + String(milliseconds % 1000).paddedLeft(to: 3, with: "0").prefix(decimals)
      }
      return text + "s"
    }
  }

  /// How many digits of a second `time` needs.
  static func decimals(of time: Duration) -> Int {
    let milliseconds = milliseconds(time)
    return [1000, 100, 10].firstIndex { milliseconds.isMultiple(of: $0) } ?? 3
  }

  private static func milliseconds(_ time: Duration) -> Int { Decimal(time).thousandths / 1000 }
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
