/// The order in which people number files, with `f2` before `f10`.
enum NaturalOrder {
  /// Returns whether `first` comes before `second`. Runs of digits are compared as numbers, and all other bytes one by
  /// one. If the names differ only in leading zeros, the order of their bytes decides.
  static func isOrdered(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    var (left, right) = (first[...], second[...])
    while let a = left.first, let b = right.first {
      if isDigit(a), isDigit(b) {
        let (first, second) = (number(&left), number(&right))
        // Of two numbers without leading zeros, the longer one is greater.
        if first.count != second.count { return first.count < second.count }
        if first != second { return first.lexicographicallyPrecedes(second) }
      } else {
        if a != b { return a < b }
        left.removeFirst()
        right.removeFirst()
      }
    }
    if left.isEmpty != right.isEmpty { return left.isEmpty }
    return first.lexicographicallyPrecedes(second)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// Removes the digits at the start of `text`, and returns them without leading zeros.
  private static func number(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = text.prefix(while: isDigit)
    text = text[digits.endIndex...]
    return digits.drop { $0 == 0x30 }
  }
}
