extension RandomAccessCollection {
  /// Returns the first index whose element satisfies `isPast`, or the end index if there is none. If an element
  /// satisfies `isPast`, all elements after it must satisfy it too.
  @inlinable
  package func partitioningIndex(where isPast: (Element) -> Bool) -> Index {
    var low = startIndex
    var count = count
    while count > 0 {
      let half = count / 2
      let middle = index(low, offsetBy: half)
      if isPast(self[middle]) {
        count = half
      } else {
        low = index(after: middle)
        count -= half + 1
      }
    }
    return low
  }
}
