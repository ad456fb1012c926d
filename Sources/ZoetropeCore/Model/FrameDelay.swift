/// A frame's delay exactly as the file stores it: a fraction of a second.
public struct FrameDelay: Sendable, Hashable {
  /// The stored numerator.
  public let numerator: UInt32
  /// The stored denominator; a stored 0 is kept as 100, as the PNG specification says.
  public let denominator: UInt32

  /// A delay of `numerator`/`denominator` seconds; a denominator of 0 means 100.
  public init(numerator: UInt32, denominator: UInt32) {
    self.numerator = numerator
    self.denominator = denominator == 0 ? 100 : denominator
  }

  /// A delay in hundredths of a second, as GIF stores it.
  package init(centiseconds: UInt16) {
    self.init(numerator: UInt32(centiseconds), denominator: 100)
  }

  /// The exact time, rounded down to a whole nanosecond.
  public var duration: Duration {
    let seconds = numerator / denominator
    let rest = UInt64(numerator % denominator)
    return .seconds(Int64(seconds))
      + .nanoseconds(Int64(rest * 1_000_000_000 / UInt64(denominator)))
  }

  /// The exact time in milliseconds, rounded down.
  package var milliseconds: Int { Int(UInt64(numerator) * 1000 / UInt64(denominator)) }
}

extension FrameDelay: CustomStringConvertible {
  /// `NUMERATOR/DENOMINATOR s`.
  public var description: String { "\(numerator)/\(denominator) s" }
}
