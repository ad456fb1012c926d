import Zoetrope

/// A positive time as an exact fraction of a second in lowest terms.
struct ExactTime: Hashable, Sendable {
  let numerator: UInt64
  let denominator: UInt64

  /// Nil for 0.
  init?(_ numerator: UInt64, _ denominator: UInt64) {
    guard numerator > 0 else { return nil }
    let divisor = Self.divisor(numerator, denominator)
    self.numerator = numerator / divisor
    self.denominator = denominator / divisor
  }

  /// How long a frame with `delay` is shown: the stored fraction if `policy` does not change it, because thirds
  /// of a second are not whole nanoseconds.
  init?(_ delay: FrameDelay, policy: DelayPolicy) {
    let shown = policy.shownDuration(of: delay)
    if shown == delay.duration {
      self.init(UInt64(delay.numerator), UInt64(delay.denominator))
    } else {
      let (seconds, attoseconds) = shown.components
      self.init(
        UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000), 1_000_000_000)
    }
  }

  /// The longest time that divides both; nil if it is too short for a ``PictureRate``.
  func common(_ other: ExactTime) -> ExactTime? {
    let shared = Self.divisor(denominator, other.denominator)
    let (least, isTooLarge) = denominator.multipliedReportingOverflow(
      by: other.denominator / shared)
    let time = isTooLarge ? nil : ExactTime(Self.divisor(numerator, other.numerator), least)
    return time.flatMap { $0.isFrame ? $0 : nil }
  }

  /// Whether it is long enough to be one picture of a ``PictureRate``.
  var isFrame: Bool { (denominator - 1) / numerator < UInt64(PictureRate.mostASecond) }

  /// How many times `unit`, which divides it, fits.
  func count(of unit: ExactTime) -> Int {
    // Both quotients are integers, because both fractions are in lowest terms.
    let (count, isTooLarge) = (numerator / unit.numerator).multipliedReportingOverflow(
      by: unit.denominator / denominator)
    return isTooLarge ? .max : Int(clamping: count)
  }

  static func divisor(_ left: UInt64, _ right: UInt64) -> UInt64 {
    var (left, right) = (left, right)
    while right > 0 { (left, right) = (right, left % right) }
    return left
  }
}

extension PictureRate {
  /// The rate at which every frame is shown for a whole number of pictures, and that number for each frame. The
  /// rate is the inverse of the greatest common divisor of the times.
  ///
  /// A frame with zero duration gets no picture. Nil if all durations are zero, or if the rate would be above
  /// ``mostASecond``.
  static func common(
    of delays: [FrameDelay], policy: DelayPolicy
  ) -> (rate: PictureRate, counts: [Int])? {
    let times = delays.map { ExactTime($0, policy: policy) }
    var unit: ExactTime?
    for case let time? in times {
      guard let found = unit.map({ $0.common(time) }) ?? (time.isFrame ? time : nil) else {
        return nil
      }
      unit = found
    }
    guard let unit, let rate = PictureRate(unit.denominator, unit.numerator) else { return nil }
    return (rate, times.map { $0?.count(of: unit) ?? 0 })
  }

  /// Its highest multiple up to ``mostASecond``.
  var multipliedToMost: PictureRate {
    let factor = max(1, Self.mostASecond * denominator / numerator)
    return PictureRate(numerator: numerator * factor, denominator: denominator)
  }

  /// Nil unless the rate is above 0 and up to ``mostASecond``, and both numbers fit the integers of video
  /// readers.
  init?(_ numerator: UInt64, _ denominator: UInt64) {
    guard let time = ExactTime(denominator, numerator), numerator > 0, time.isFrame,
      max(time.numerator, time.denominator) <= UInt64(Int32.max)
    else { return nil }
    self.init(numerator: Int(time.denominator), denominator: Int(time.numerator))
  }
}
