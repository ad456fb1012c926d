import Zoetrope

extension ExactTime {
  /// Creates the time for which a frame with `delay` is shown. Keeps the stored fraction if `policy` does not change
  /// the delay, because a time such as a third of a second is not a whole number of nanoseconds.
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

  /// Returns the longest time that fits a whole number of times into both this time and `other`, neither of which may
  /// be zero. Returns nil if the result is too short for one picture at the highest ``PictureRate``.
  fileprivate func common(_ other: ExactTime) -> ExactTime? {
    let shared = greatestCommonDivisor(denominator, other.denominator)
    // The denominator is below 2⁷². If the initializer has to round, the time is too short for a picture anyway.
    let time = ExactTime(
      greatestCommonDivisor(numerator, other.numerator), denominator / shared * other.denominator)
    return time.isFrame ? time : nil
  }

  /// Whether the time is long enough for one picture at the highest ``PictureRate``.
  fileprivate var isFrame: Bool { denominator <= numerator * Int128(PictureRate.mostASecond) }

  /// Returns how many times `unit` fits into this time, which must be a multiple of `unit`.
  fileprivate func count(of unit: ExactTime) -> Int {
    // Both quotients are integers, because both times are fractions in lowest terms.
    Int(clamping: numerator / unit.numerator * (unit.denominator / denominator))
  }
}

extension PictureRate {
  /// Returns the lowest rate at which every frame is shown for a whole number of pictures, and that number for each
  /// frame. The rate is the inverse of the greatest common divisor of the durations.
  ///
  /// A frame with zero duration gets no picture. Returns nil if all durations are zero, if the rate would be above
  /// ``mostASecond``, or if its numerator or denominator does not fit the integers of video readers.
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

  /// The highest multiple of this rate that does not exceed ``mostASecond``.
  var multipliedToMost: PictureRate {
    let factor = max(1, Self.mostASecond * denominator / numerator)
    return PictureRate(numerator: numerator * factor, denominator: denominator)
  }
}
