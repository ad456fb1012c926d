/// The order in which people number files: `f2` before `f10`.
enum NaturalOrder {
  /// Whether `first` comes before `second`: runs of digits are compared as numbers, all else byte by byte. If names
  /// differ only in leading zeros, byte order decides.
  static func isOrdered(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    var (left, right) = (first[...], second[...])
    while let a = left.first, let b = right.first {
      if isDigit(a), isDigit(b) {
        let (first, second) = (number(&left), number(&right))
        // Without leading zeros, the longer number is the greater one.
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

  /// Removes the digits at the start of `text`; returns them without leading zeros.
  private static func number(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = text.prefix(while: isDigit)
    text = text[digits.endIndex...]
    return digits.drop { $0 == 0x30 }
  }
}
