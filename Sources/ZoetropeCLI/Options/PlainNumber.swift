extension StringProtocol {
  /// The number that the text consists of: one to nine digits, so that neither sums nor products of two numbers
  /// overflow. Nil for any other text. `Int` would also accept a sign.
  var plainNumber: Int? {
    guard (1...9).contains(utf8.count), utf8.allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    return Int(self)
  }
}
