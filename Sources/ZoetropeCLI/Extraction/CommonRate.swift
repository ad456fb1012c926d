import Zoetrope

extension ExactTime {
  /// How long a frame with `delay` is shown. Keeps the stored fraction if `policy` does not change it, because a third
  /// of a second is not a whole number of nanoseconds.
  fileprivate init(_ delay: FrameDelay, policy: DelayPolicy) {
    let shown = policy.shownDuration(of: delay)
    if shown == delay.duration {
      self.init(delay)
    } else {
      let (seconds, attoseconds) = shown.components
      self.init(
        Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000), 1_000_000_000)
    }
  }

  /// The longest time that divides both, which are not zero; nil if it is too short for a ``PictureRate``.
  fileprivate func common(_ other: ExactTime) -> ExactTime? {
    let shared = greatestCommonDivisor(denominator, other.denominator)
    // The denominator is below 2⁷². If the initializer has to round, the time is too short anyway.
    let time = ExactTime(
      greatestCommonDivisor(numerator, other.numerator), denominator / shared * other.denominator)
    return time.isFrame ? time : nil
  }

  /// Whether it is long enough to be one picture of a ``PictureRate``.
  fileprivate var isFrame: Bool { denominator <= numerator * Int128(PictureRate.mostASecond) }

  /// How many times `unit` fits; it must divide this time.
  fileprivate func count(of unit: ExactTime) -> Int {
    // Both quotients are integers, because both fractions are in lowest terms.
    Int(clamping: numerator / unit.numerator * (unit.denominator / denominator))
  }
}

extension PictureRate {
  /// The rate at which every frame is shown for a whole number of pictures, and that number for each frame. The
  /// rate is the inverse of the greatest common divisor of the times.
  ///
  /// A frame with zero duration gets no picture. Nil if all durations are zero, or if the rate would be above
  /// ``mostASecond`` or does not fit the integers of video readers.
  static func common(
    of delays: [FrameDelay], policy: DelayPolicy
  ) -> (rate: PictureRate, counts: [Int])? {
    let times = delays.map { ExactTime($0, policy: policy) }
    var unit: ExactTime?
    for time in times where time != .zero {
      guard let found = unit.map({ $0.common(time) }) ?? (time.isFrame ? time : nil) else {
        return nil
      }
      unit = found
    }
    // The integers of video readers have 32 bits.
    guard let unit, max(unit.numerator, unit.denominator) <= Int128(Int32.max) else { return nil }
    let rate = PictureRate(numerator: Int(unit.denominator), denominator: Int(unit.numerator))
    return (rate, times.map { $0.count(of: unit) })
  }

  /// The highest multiple of this rate up to ``mostASecond``.
  var multipliedToMost: PictureRate {
    let factor = max(1, Self.mostASecond * denominator / numerator)
    return PictureRate(numerator: numerator * factor, denominator: denominator)
  }
}
