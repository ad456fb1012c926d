internal import Zoetrope
internal import ZoetropeTerminal

/// The place at which a preview is drawn, in cells. Its textual form is `COLSxROWS` or `COLSxROWS@X,Y`.
package struct PicturePlace: Hashable, Sendable {
  private static let largestOffset = 9999

  package let columns: Int
  package let rows: Int
  /// The first column and row, counted from 0 at the top left of the screen, or nil for the position of the cursor.
  package let position: (column: Int, row: Int)?

  /// Parses `COLSxROWS` or `COLSxROWS@X,Y`, where X and Y count from 0 at the top left of the screen. `COLSxROWS@XxY`,
  /// the syntax of `kitty +kitten icat --place`, is accepted too. Returns nil for any other text.
  package init?(_ text: String) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = parts.first,
      let size = Self.pair(first, separators: ["x"], range: 1...FrameLayout.longestSide)
    else { return nil }
    (columns, rows) = size
    guard parts.count == 2 else {
      position = nil
      return
    }
    guard
      let offset = Self.pair(parts[1], separators: [",", "x"], range: 0...Self.largestOffset)
    else { return nil }
    position = (offset.0, offset.1)
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

  /// The cells at ``position``, or at the top left of the screen if there is no position.
  var cells: CellRect {
    CellRect(
      column: position?.column ?? 0, row: position?.row ?? 0, columns: columns, rows: rows)
  }

  package static func == (first: PicturePlace, second: PicturePlace) -> Bool {
    first.cells == second.cells && (first.position == nil) == (second.position == nil)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(cells)
    hasher.combine(position == nil)
  }
}
