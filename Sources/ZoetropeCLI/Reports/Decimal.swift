import Zoetrope

/// A decimal number with three fractional digits, usually of milliseconds: `33.333`, `40`.
struct Decimal: Hashable, Comparable, CustomStringConvertible {
  /// Microseconds.
  var thousandths: Int

  init(thousandths: Int) { self.thousandths = thousandths }

  /// The stored delay in milliseconds, rounded down to the microsecond.
  init(_ delay: FrameDelay) {
    thousandths = Int(UInt64(delay.numerator) * 1_000_000 / UInt64(delay.denominator))
  }

  /// A time in milliseconds, rounded down to the microsecond.
  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    thousandths = Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
  }

  var description: String {
    let fraction = thousandths % 1000
    guard fraction != 0 else { return String(thousandths / 1000) }
    var digits = String(fraction).paddedLeft(to: 3, with: "0")
    while digits.last == "0" { digits.removeLast() }
    return "\(thousandths / 1000).\(digits)"
  }

  /// A time in milliseconds in larger units, such as `12.5 s`, `33 min 20 s` or `2 h 5 min 0 s`;
  /// nil below ten seconds.
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

  static func += (left: inout Decimal, right: Decimal) { left = left + right }
}

extension JSONWriter {
  mutating func field(_ key: StaticString, _ value: Decimal) {
    field(key, numberText: value.description)
  }
}

extension Sequence<FrameControl> {
  /// Calls `body` with each delay and the number of consecutive frames that have it.
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

  /// The sum of `time` over each frame's delay.
  func total(_ time: (FrameDelay) -> Decimal) -> Decimal {
    var total = Decimal(thousandths: 0)
    forEachDelay { total.thousandths += time($0).thousandths * $1 }
    return total
  }

  /// The sum of the stored delays.
  var storedDuration: Decimal { total { Decimal($0) } }
}
