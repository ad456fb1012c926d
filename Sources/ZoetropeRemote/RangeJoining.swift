extension [Range<Int>] {
  /// Appends a range that follows the others. If the gap to the last one is shorter than `distance`, extends that range
  /// instead.
  mutating func append(_ range: Range<Int>, joiningWithin distance: Int) {
    guard let last, range.lowerBound - last.upperBound < Swift.max(distance, 1) else {
      return append(range)
    }
    self[count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
  }
}
