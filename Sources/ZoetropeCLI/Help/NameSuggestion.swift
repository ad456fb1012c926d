/// Finds the name that a misspelled word probably means.
enum NameSuggestion {
  /// The closest of `names` to `word`; nil if none is close.
  ///
  /// A word is close if it is a prefix of at least two letters, or if it is at most two edits away and shares
  /// more than half of its letters with the name.
  static func closest<Names: Sequence>(
    to word: some StringProtocol, in names: Names
  ) -> String? where Names.Element: StringProtocol {
    var best: (name: String, distance: Int)?
    for name in names {
      let isBeginning = word.utf8.count >= 2 && name.hasPrefix(word)
      let distance = isBeginning ? 1 : edits(from: Array(word.utf8), to: Array(name.utf8))
      guard distance <= 2, distance * 2 < name.utf8.count, distance < best?.distance ?? 3 else {
        continue
      }
      best = (String(name), distance)
    }
    return best?.name
  }

  /// The number of letters to insert, remove, replace or swap with a neighbour.
  private static func edits(from: [UInt8], to: [UInt8]) -> Int {
    // Words whose lengths differ by more are not close.
    guard abs(from.count - to.count) <= 2 else { return 3 }
    var earlier: [Int] = []
    var previous = Array(0...to.count)
    for row in from.indices {
      var current = [row + 1]
      for column in to.indices {
        var least = previous[column] + (from[row] == to[column] ? 0 : 1)
        least = min(least, previous[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, from[row] == to[column - 1], from[row - 1] == to[column] {
          least = min(least, earlier[column - 1] + 1)
        }
        current.append(least)
      }
      (earlier, previous) = (previous, current)
    }
    return previous[to.count]
  }
}
