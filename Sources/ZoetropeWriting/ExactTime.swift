/// An exact number of seconds.
///
/// The value is a fraction whose denominator is at most 2³⁶. A sum that would need a larger denominator is rounded to a
/// ten-thousandth of a microsecond. This happens only with crafted delays.
package struct ExactTime: Sendable, Hashable {
  /// The numerator of the fraction, which is in lowest terms and has a positive denominator.
  package private(set) var numerator: Int128
  package private(set) var denominator: Int128

  package static let zero = ExactTime(0, 1)
  private static let greatestDenominator: Int128 = 1 << 36
  private static let unit: Int128 = 10_000_000_000

  package init(_ numerator: Int128, _ denominator: Int128) {
    let divisor = greatestCommonDivisor(denominator, abs(numerator))
    self.numerator = numerator / divisor
    self.denominator = denominator / divisor
    guard self.denominator > Self.greatestDenominator else { return }
    // A million delays of 2³² seconds add up to less than 2⁵² seconds. A numerator is therefore below 2⁸⁸, or below
    // 2¹²⁴ if its denominator is the product of two others.
    let whole = self.numerator / self.denominator
    let rest = self.numerator % self.denominator
    let part = (2 * rest * Self.unit + self.denominator) / (2 * self.denominator)
    self = ExactTime(whole * Self.unit + part, Self.unit)
  }

  package init(_ delay: FrameDelay) {
    self.init(Int128(delay.numerator), Int128(delay.denominator))
  }

  package static func + (left: Self, right: Self) -> Self {
    let divisor = greatestCommonDivisor(left.denominator, right.denominator)
    return Self(
      left.numerator * (right.denominator / divisor)
        + right.numerator * (left.denominator / divisor),
      left.denominator / divisor * right.denominator)
  }

  package static func - (left: Self, right: Self) -> Self {
    left + Self(-right.numerator, right.denominator)
  }

  /// Returns the time in units of 1/`unit` second, rounded to the nearest integer, with halves rounded up.
  func rounded(to unit: Int128) -> Int128 {
    let (quotient, rest) = (2 * numerator * unit + denominator)
      .quotientAndRemainder(dividingBy: 2 * denominator)
    return rest < 0 ? quotient - 1 : quotient
  }
}

extension ExactTime: Comparable {
  package static func < (left: Self, right: Self) -> Bool {
    left.numerator * right.denominator < right.numerator * left.denominator
  }
}
