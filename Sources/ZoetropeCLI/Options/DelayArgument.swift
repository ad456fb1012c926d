import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// A delay: a time with a unit, such as `100ms` or `0.04s`, or a fraction of a second, such as `1/30`.
struct DelayArgument: Hashable, Sendable {
  let delay: FrameDelay

  /// Parses a delay. Returns nil if `text` is not a delay, or if its numerator or denominator exceeds 32 bits. A
  /// decimal number needs a unit unless it is 0, because some tools count in milliseconds and others in seconds.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count == 2 {
      guard let numerator = Self.number(parts[0]), let denominator = Self.number(parts[1]),
        denominator > 0
      else { return nil }
      self.init(Int128(numerator), over: Int128(denominator))
    } else {
      guard let time = TimeRange.time(Substring(text)),
        text.last?.isLetter == true || time == .zero
      else { return nil }
      self.init(time.attoseconds, over: 1_000_000_000_000_000_000)
    }
  }

  /// Creates a delay that is a fraction of a second, in lowest terms. Returns nil if the numerator or the denominator
  /// exceeds 32 bits.
  init?(_ numerator: Int128, over denominator: Int128) {
    let divisor = greatestCommonDivisor(denominator, numerator)
    guard let above = UInt32(exactly: numerator / divisor),
      let below = UInt32(exactly: denominator / divisor)
    else { return nil }
    delay = FrameDelay(numerator: above, denominator: below)
  }

  /// Creates the duration of one picture at the constant rate `rate`.
  init?(_ rate: PictureRate) { self.init(Int128(rate.denominator), over: Int128(rate.numerator)) }

  private static func number(_ text: some StringProtocol) -> UInt32? {
    text.utf8.allSatisfy { (48...57).contains($0) } ? UInt32(text) : nil
  }
}

extension DelayArgument: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}
