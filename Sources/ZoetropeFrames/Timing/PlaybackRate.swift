/// A playback rate as an exact fraction, so that deadlines can be computed exactly.
///
/// A rate is clamped to 0.001...1000 and rounded to a millionth, so that the products computed with it fit in 128 bits
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

  /// Returns the wall-clock time that passes while the media time `time` is played at this rate.
  package func wallTime(_ time: Duration) -> Duration {
    time.scaled(by: denominator, over: numerator)
  }
}

let attosecondsPerSecond: Int128 = 1_000_000_000_000_000_000

extension Duration {
  /// Creates a duration of `numerator`/`denominator` seconds, rounded down to a whole attosecond and clamped to
  /// ±`Int64.max` seconds.
  ///
  /// The rounding is correct if `denominator` is below 2⁶²: the remainder of the division multiplied by 10¹⁸ then stays
  /// below 2¹²², so the arithmetic does not overflow.
  init(seconds numerator: Int128, over denominator: Int128) {
    let (whole, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
    self.init(whole, attoseconds: rest * attosecondsPerSecond / denominator)
  }

  /// Creates a duration from whole seconds and attoseconds, clamped to ±`Int64.max` seconds.
  ///
  /// The duration is clamped as a whole. If only the seconds were clamped, one clamped time could be less than another,
  /// earlier one that has a larger fraction of a second.
  private init(_ seconds: Int128, attoseconds: Int128) {
    guard let whole = Int64(exactly: seconds), abs(seconds) < Int64.max else {
      self = .seconds(seconds > 0 ? Int64.max : -Int64.max)
      return
    }
    self.init(secondsComponent: whole, attosecondsComponent: Int64(attoseconds))
  }

  /// Returns this duration multiplied by a positive fraction, rounded down to a whole attosecond and clamped to
  /// ±`Int64.max` seconds.
  ///
  /// The seconds and the attoseconds are multiplied separately: if the duration were converted to attoseconds first,
  /// several days multiplied by a rate would overflow 128 bits.
  package func scaled(by numerator: Int128, over denominator: Int128) -> Duration {
    let (seconds, attoseconds) = clampedComponents
    let (whole, rest) = (Int128(seconds) * numerator).quotientAndRemainder(dividingBy: denominator)
    let fraction =
      (rest * attosecondsPerSecond + Int128(attoseconds) * numerator) / denominator
    let (carry, part) = fraction.quotientAndRemainder(dividingBy: attosecondsPerSecond)
    return .init(whole + carry, attoseconds: part)
  }

  /// The `components` of the duration, with the seconds clamped to 64 bits. `components` itself traps if the seconds do
  /// not fit.
  var clampedComponents: (seconds: Int64, attoseconds: Int64) {
    min(max(self, .seconds(-Int64.max)), .seconds(Int64.max)).components
  }

  /// The duration in whole nanoseconds, rounded down, and at most `Int64.max`.
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = clampedComponents
    return Int64(clamping: Int128(seconds) * 1_000_000_000 + Int128(attoseconds) / 1_000_000_000)
  }
}
