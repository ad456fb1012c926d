internal import Zoetrope
internal import ZoetropeTerminal

/// The place at which a preview is drawn, in cells. Its textual form is `COLSxROWS` or `COLSxROWS@X,Y`.
package struct PicturePlace: Hashable, Sendable {
  private static let largestOffset = 9999

  /// The cells, which begin at the top left of the screen if there is no position.
  let cells: CellRect
  /// Whether the first cell is given. Otherwise it is the one of the cursor.
  package let hasPosition: Bool

  /// Parses `COLSxROWS` or `COLSxROWS@X,Y`, where X and Y count from 0 at the top left of the screen. `COLSxROWS@XxY`,
  /// the syntax of `kitty +kitten icat --place`, is accepted too. Returns nil for any other text.
  package init?(_ text: String) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = parts.first,
      let size = Self.pair(first, separators: ["x"], range: 1...FrameLayout.longestSide)
    else { return nil }
    var offset = (0, 0)
    hasPosition = parts.count == 2
    if hasPosition {
      let found = Self.pair(parts[1], separators: [",", "x"], range: 0...Self.largestOffset)
      guard let found else { return nil }
      offset = found
    }
    cells = CellRect(column: offset.0, row: offset.1, columns: size.0, rows: size.1)
  }

  private static func pair(
    _ text: Substring, separators: Set<Character>, range: ClosedRange<Int>
  ) -> (Int, Int)? {
    let numbers = text.split(
      omittingEmptySubsequences: false, whereSeparator: { separators.contains($0) })
    guard numbers.count == 2, let first = number(numbers[0]), let second = number(numbers[1]),
      range.contains(first), range.contains(second)
    else { return nil }
    return (first, second)
  }

  /// Parses a number that consists only of digits. `Int` would also accept a sign.
  private static func number(_ text: Substring) -> Int? {
    text.allSatisfy { $0.isASCII && $0.isNumber } ? Int(text) : nil
  }
}
