/// A playback rate as an exact fraction, so that deadlines are exact.
///
/// Rates are rounded to a millionth and clamped to 0.001...1000, so that the products below fit in 128 bits
/// for every delay that a file can store.
package struct PlaybackRate: Sendable, Hashable {
  package let numerator: Int128
  package let denominator: Int128

  package init(_ value: Double) {
    let clamped = value.isNaN ? 1 : min(max(value, 0.001), 1000)
    let millionths = Int128((clamped * 1_000_000).rounded())
    let divisor = greatestCommonDivisor(millionths, 1_000_000)
    numerator = millionths / divisor
    denominator = 1_000_000 / divisor
  }

  package var value: Double { Double(numerator) / Double(denominator) }

  /// Returns the wall-clock time in which media time `time` passes at this rate.
  package func wallTime(_ time: Duration) -> Duration {
    time.scaled(by: denominator, over: numerator)
  }
}

let attosecondsPerSecond: Int128 = 1_000_000_000_000_000_000

extension Duration {
  /// Creates a duration of `numerator`/`denominator` seconds, rounded down to a whole attosecond and clamped to
  /// ±`Int64.max` seconds.
  ///
  /// Exact for a denominator below 2⁶²: the remainder times 10¹⁸ stays below 2¹²².
  init(seconds numerator: Int128, over denominator: Int128) {
    let (whole, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
    self.init(whole, attoseconds: rest * attosecondsPerSecond / denominator)
  }

  /// Clamps the sum, not only the seconds: otherwise, once the seconds are clamped, a later time with a smaller
  /// fraction would compare as less.
  private init(_ seconds: Int128, attoseconds: Int128) {
    guard let whole = Int64(exactly: seconds), abs(seconds) < Int64.max else {
      self = .seconds(seconds > 0 ? Int64.max : -Int64.max)
      return
    }
    self.init(secondsComponent: whole, attosecondsComponent: Int64(attoseconds))
  }

  /// Returns this time multiplied by a positive fraction, rounded down to a whole attosecond and clamped to
  /// ±`Int64.max` seconds.
  ///
  /// Multiplies seconds and attoseconds separately: several days in attoseconds, multiplied by a rate, would overflow
  /// 128 bits.
  package func scaled(by numerator: Int128, over denominator: Int128) -> Duration {
    let (seconds, attoseconds) = clampedComponents
    let (whole, rest) = (Int128(seconds) * numerator).quotientAndRemainder(dividingBy: denominator)
    let fraction =
      (rest * attosecondsPerSecond + Int128(attoseconds) * numerator) / denominator
    let (carry, part) = fraction.quotientAndRemainder(dividingBy: attosecondsPerSecond)
    return .init(whole + carry, attoseconds: part)
  }

  /// Like `components`, but clamps seconds that do not fit in 64 bits, where `components` traps.
  var clampedComponents: (seconds: Int64, attoseconds: Int64) {
    min(max(self, .seconds(-Int64.max)), .seconds(Int64.max)).components
  }

  /// This time in whole nanoseconds, rounded down; at most `Int64.max`.
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = clampedComponents
    return Int64(clamping: Int128(seconds) * 1_000_000_000 + Int128(attoseconds) / 1_000_000_000)
  }
}
