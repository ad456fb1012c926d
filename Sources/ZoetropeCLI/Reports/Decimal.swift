import Zoetrope

/// A number to the thousandth, most often of milliseconds, printed without binary rounding:
/// `33.333`, `40`.
struct Decimal: Hashable, Comparable, CustomStringConvertible {
  /// Microseconds.
  var thousandths: Int

  init(thousandths: Int) { self.thousandths = thousandths }

  /// The stored delay in milliseconds, cut to the microsecond.
  init(_ delay: FrameDelay) {
    thousandths = Int(UInt64(delay.numerator) * 1_000_000 / UInt64(delay.denominator))
  }

  /// A time in milliseconds, cut to the microsecond.
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

  static func < (left: Decimal, right: Decimal) -> Bool { left.thousandths < right.thousandths }

  static func + (left: Decimal, right: Decimal) -> Decimal {
    Decimal(thousandths: left.thousandths + right.thousandths)
  }

  static func += (left: inout Decimal, right: Decimal) { left = left + right }
}

extension Sequence<FrameControl> {
  /// The sum of the stored delays.
  var storedDuration: Decimal {
    reduce(Decimal(thousandths: 0)) { $0 + Decimal($1.delay) }
  }
}
