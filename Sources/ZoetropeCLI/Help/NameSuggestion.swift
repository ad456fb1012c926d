/// Finds the name that a misspelled word probably means.
enum NameSuggestion {
  /// Returns the element of `names` that is closest to `word`, or nil if none is close.
  ///
  /// A word is close to a name if it is a prefix of at least two letters, or if it is at most two edits away from the
  /// name, which must have more than twice as many letters as there are edits.
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

  /// Returns the number of edits that turn `from` into `to`, or 3 if the lengths differ by more than two. An edit
  /// inserts, removes or replaces a letter, or swaps two neighbouring letters.
  private static func edits(from: [UInt8], to: [UInt8]) -> Int {
    // Words whose lengths differ by more than two are not close.
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
