/// Converts exact delays to those that an APNG stores: fractions of a second with a 16-bit numerator and denominator.
///
/// A delay that fits is stored exactly, in lowest terms. Any other delay is approximated, and the error is carried over
/// to the next delay that does not fit. The total duration of a play is therefore off by no more than the last of these
/// errors.
package struct FractionDelays: Sendable {
  /// The exact total of the delays so far minus the stored total.
  private var error = ExactTime.zero
  private static let limit: Int128 = 0xffff

  package init() {}

  /// Returns what is stored for `delay`: one delay, or several if `delay` is longer than 65,535 s.
  package mutating func store(_ delay: ExactTime) -> [FrameDelay] {
    if let exact = Self.exact(delay) { return [exact] }
    var rest = delay + error
    if rest < .zero { rest = .zero }
    var delays: [FrameDelay] = []
    while rest > ExactTime(Self.limit, 1) {
      delays.append(FrameDelay(numerator: UInt32(Self.limit), denominator: 1))
      rest = rest - ExactTime(Self.limit, 1)
    }
    let last = Self.nearest(rest)
    delays.append(last)
    error = rest - ExactTime(last)
    return delays
  }

  private static func exact(_ time: ExactTime) -> FrameDelay? {
    guard time.numerator <= limit, time.denominator <= limit else { return nil }
    return FrameDelay(
      numerator: UInt32(time.numerator), denominator: UInt32(time.denominator))
  }

  /// Returns the storable fraction that is nearest to `time`, which must be at most 65,535 s. The candidates are the
  /// convergents and semiconvergents of the continued fraction of `time`.
  static func nearest(_ time: ExactTime) -> FrameDelay {
    if let exact = exact(time) { return exact }
    // The last two convergents, p0/q0 and p1/q1.
    var (p0, q0, p1, q1): (Int128, Int128, Int128, Int128) = (0, 1, 1, 0)
    var (numerator, denominator) = (time.numerator, time.denominator)
    while denominator != 0 {
      let term = numerator / denominator
      let (p2, q2) = (term * p1 + p0, term * q1 + q0)
      guard p2 <= limit, q2 <= limit else {
        // The largest step towards the next convergent for which numerator and denominator fit in 16 bits.
        let most = min(
          p1 > 0 ? (limit - p0) / p1 : .max, q1 > 0 ? (limit - q0) / q1 : .max, term)
        let (p, q) = (most * p1 + p0, most * q1 + q0)
        let candidates = [(p, q), (p1, q1)].filter { $0.1 > 0 }
        let best = candidates.min { distance(time, $0) < distance(time, $1) } ?? (p, q)
        return FrameDelay(numerator: UInt32(best.0), denominator: UInt32(best.1))
      }
      (p0, q0, p1, q1) = (p1, q1, p2, q2)
      (numerator, denominator) = (denominator, numerator % denominator)
    }
    return FrameDelay(numerator: UInt32(p1), denominator: UInt32(q1))
  }

  private static func distance(_ time: ExactTime, _ other: (Int128, Int128)) -> ExactTime {
    let fraction = ExactTime(other.0, other.1)
    return time < fraction ? fraction - time : time - fraction
  }
}
