extension StringProtocol {
  /// The number that the text consists of: one to nine digits, so that neither sums nor products of two numbers
  /// overflow. Nil for any other text. `Int` would also accept a sign.
  var plainNumber: Int? { plainNumber(digits: 9) }

  /// Returns the number that the text consists of, or nil if it is not one to `digits` digits.
  func plainNumber(digits: Int) -> Int? {
    guard (1...digits).contains(utf8.count), utf8.allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    return Int(self)
  }
}
