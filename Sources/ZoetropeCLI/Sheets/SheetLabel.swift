import ArgumentParser
import Zoetrope

/// The text below each frame of a sheet.
enum SheetLabel: String, ExpressibleByArgument, CaseIterable, Sendable {
  case none, index, time

  /// Returns the label of frame `index`, which is first shown at `time`. Times have `decimals` fractional digits, at
  /// most three.
  func text(index: Int, time: Duration, decimals: Int) -> String {
    switch self {
    case .none: return ""
    case .index: return String(index)
    case .time:
      // Fractions of a millisecond are dropped. Minutes are written separately from seconds.
      let milliseconds = OutputTemplate.Values.milliseconds(time)
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

  /// Returns how many fractional digits `time` needs in seconds, at most three.
  static func decimals(of time: Duration) -> Int {
    let milliseconds = OutputTemplate.Values.milliseconds(time)
    return [1000, 100, 10].firstIndex { milliseconds.isMultiple(of: $0) } ?? 3
  }
}

/// The font of the labels. Letters are five pixels wide and seven pixels high.
enum SheetFont {
  static let height = 7
  /// The horizontal distance between the left edges of two neighbouring letters, in pixels.
  static let advance = 6

  /// Returns the width of `text` in pixels, without the space after the last letter.
  static func width(of text: String) -> Int { max(text.count * advance - 1, 0) }

  /// Returns the rows of a letter, from the top, with the leftmost pixel in bit 4. Returns nil for letters that no
  /// label uses.
  static func rows(of letter: Character) -> [UInt8]? { letters[letter] }

  private static let names = "0123456789.ms"

  /// The pixels of the letters in ``names``, side by side, with one empty column between two letters.
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
