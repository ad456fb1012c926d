extension [Range<Int>] {
  /// Appends `range`, which follows all ranges of the array. If the gap between the last of them and `range` is shorter
  /// than `distance`, extends the last range up to the end of `range` instead.
  mutating func append(_ range: Range<Int>, joiningWithin distance: Int) {
    guard let last, range.lowerBound - last.upperBound < Swift.max(distance, 1) else {
      return append(range)
    }
    self[count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
  }
}
