import Zoetrope

/// A decimal number with three fractional digits, usually a time in milliseconds, such as `33.333` or `40`.
struct Decimal: Hashable, Comparable, CustomStringConvertible {
  /// The number in thousandths. If the number is in milliseconds, these are microseconds.
  var thousandths: Int

  init(thousandths: Int) { self.thousandths = thousandths }

  /// Creates the number of milliseconds of a stored delay, rounded to the nearest microsecond.
  init(_ delay: FrameDelay) { self.init(delay.duration) }

  /// Creates the number of milliseconds of a time, rounded to the nearest microsecond.
  init(_ duration: Duration) {
    thousandths = duration.roundedMicroseconds
  }

  var description: String {
    let fraction = thousandths % 1000
    guard fraction != 0 else { return String(thousandths / 1000) }
    var digits = String(fraction).paddedLeft(to: 3, with: "0")
    while digits.last == "0" { digits.removeLast() }
    return "\(thousandths / 1000).\(digits)"
  }

  /// The number as a time in milliseconds, written in larger units, such as `12.5 s`, `33 min 20 s` or `2 h 5 min 0 s`.
  /// Nil for less than ten seconds.
  var minutesAndSeconds: String? {
    let seconds = thousandths / 1_000_000
    if seconds < 10 { return nil }
    if seconds < 60 { return "\(Decimal(thousandths: thousandths / 1000)) s" }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return (hours > 0 ? "\(hours) h " : "") + "\(minutes) min \(seconds % 60) s"
  }

  static func < (left: Decimal, right: Decimal) -> Bool { left.thousandths < right.thousandths }

  static func + (left: Decimal, right: Decimal) -> Decimal {
    Decimal(thousandths: left.thousandths + right.thousandths)
  }

  static func - (left: Decimal, right: Decimal) -> Decimal {
    Decimal(thousandths: left.thousandths - right.thousandths)
  }

  static func += (left: inout Decimal, right: Decimal) { left = left + right }
}

extension Duration {
  /// The time in microseconds, rounded to the nearest whole number.
  var roundedMicroseconds: Int {
    let microsecond: Int64 = 1_000_000_000_000
    return Int(components.seconds) * 1_000_000
      + Int((components.attoseconds + microsecond / 2) / microsecond)
  }

  /// The largest amount by which printing a time rounds it down. Time arguments may be copied from a report, so this
  /// amount is added to them.
  static let printingLoss = Duration(
    secondsComponent: 0, attosecondsComponent: 499_999_999_999)
}

extension JSONWriter {
  mutating func field(_ key: StaticString, _ value: Decimal) {
    field(key, numberText: value.description)
  }

  mutating func fraction(_ key: StaticString, _ numerator: Int, _ denominator: Int) {
    object(key) {
      $0.field("num", numerator)
      $0.field("den", denominator)
    }
  }
}

extension Sequence<FrameControl> {
  /// Calls `body` for each run of equal delays, with the delay and the length of the run.
  func forEachDelay(_ body: (_ delay: FrameDelay, _ count: Int) -> Void) {
    var last: FrameDelay?
    var count = 0
    for frame in self {
      if let last, last != frame.delay {
        body(last, count)
        count = 0
      }
      last = frame.delay
      count += 1
    }
    if let last { body(last, count) }
  }

  /// Whether each delay is a whole number of microseconds, so that rounded delays add up exactly.
  fileprivate var haveWholeMicroseconds: Bool {
    var areWhole = true
    forEachDelay { delay, _ in
      areWhole = areWhole && UInt64(delay.numerator) * 1_000_000 % UInt64(delay.denominator) == 0
    }
    return areWhole
  }
}

extension [FrameControl] {
  /// Returns the duration of one play under `policy`, in milliseconds.
  func duration(_ policy: DelayPolicy) -> Decimal {
    guard haveWholeMicroseconds else {
      let timeline = PlaybackTimeline(self, policy: policy)
      return Decimal(timeline.startTime(count))
    }
    var total = Decimal(thousandths: 0)
    forEachDelay { total.thousandths += Decimal(policy.shownDuration(of: $0)).thousandths * $1 }
    return total
  }

  /// Returns the start time of each frame under `policy`, in milliseconds.
  func starts(_ policy: DelayPolicy) -> [Decimal] {
    guard haveWholeMicroseconds else {
      let timeline = PlaybackTimeline(self, policy: policy)
      return indices.map { Decimal(timeline.startTime($0)) }
    }
    var now = Decimal(thousandths: 0)
    return map { frame in
      defer { now += Decimal(policy.shownDuration(of: frame.delay)) }
      return now
    }
  }
}
