/// The delay of a frame exactly as the file stores it, as a fraction of a second.
public struct FrameDelay: Sendable, Hashable {
  /// The stored numerator.
  public let numerator: UInt32
  /// The stored denominator. A stored denominator of 0 becomes 100, as the PNG specification requires.
  public let denominator: UInt32

  /// Creates a delay of `numerator`/`denominator` seconds. A denominator of 0 means 100.
  public init(numerator: UInt32, denominator: UInt32) {
    self.numerator = numerator
    self.denominator = denominator == 0 ? 100 : denominator
  }

  /// Creates a delay of `duration`, rounded to the nearest nanosecond and reduced to lowest terms.
  ///
  /// If the numerator of the reduced fraction does not fit in 32 bits, which happens only above 4 s, the duration is
  /// rounded to a multiple of 10 ns instead, or of 100 ns and so on, until the numerator fits. Negative durations count
  /// as 0. A `Duration` cannot represent times such as 1/30 s exactly; for those, use ``init(numerator:denominator:)``.
  public init(_ duration: Duration) {
    let time = max(duration, .zero).attoseconds
    var denominator: Int128 = 1_000_000_000
    while true {
      let unit = 1_000_000_000_000_000_000 / denominator
      let numerator = time / unit + (time % unit >= (unit + 1) / 2 ? 1 : 0)
      let divisor = greatestCommonDivisor(denominator, numerator)
      if let reduced = UInt32(exactly: numerator / divisor) {
        self.init(numerator: reduced, denominator: UInt32(denominator / divisor))
        return
      }
      if denominator == 1 { break }
      denominator /= 10
    }
    self.init(numerator: .max, denominator: 1)
  }

  /// Creates a delay from hundredths of a second, the unit of GIF.
  public init(centiseconds: UInt16) {
    self.init(numerator: UInt32(centiseconds), denominator: 100)
  }

  /// The delay as a duration, rounded down to a whole nanosecond.
  public var duration: Duration {
    let seconds = numerator / denominator
    let rest = UInt64(numerator % denominator)
    return .seconds(Int64(seconds))
      + .nanoseconds(Int64(rest * 1_000_000_000 / UInt64(denominator)))
  }

  /// The delay in milliseconds, rounded down.
  package var milliseconds: Int { Int(UInt64(numerator) * 1000 / UInt64(denominator)) }
}

extension FrameDelay: CustomStringConvertible {
  /// The delay in the form `NUMERATOR/DENOMINATOR s`.
  public var description: String { "\(numerator)/\(denominator) s" }
}

/// Returns the greatest common divisor of two positive numbers, or `first` if `second` is 0.
package func greatestCommonDivisor(_ first: Int128, _ second: Int128) -> Int128 {
  var (a, b) = (first, second)
  while b != 0 { (a, b) = (b, a % b) }
  return a
}
