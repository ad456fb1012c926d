/// How often which lateness occurred, in buckets that are at most 1/16 of their value wide.
///
/// The memory it takes does not grow with the number of samples. Adding one costs a few
/// nanoseconds.
public struct LatenessHistogram: Sendable, Hashable {
  /// Samples in each bucket; see ``bounds(of:)``. Buckets past the last one are empty.
  public private(set) var counts: [Int] = []
  /// Samples in all.
  public private(set) var count = 0
  /// The greatest sample.
  public private(set) var maximum = Duration.zero

  private static let subdivisions: UInt64 = 16
  private static let subdivisionBits = 4

  /// No samples.
  public init() {}

  /// Adds one sample; a negative one counts as zero.
  public mutating func record(_ sample: Duration) {
    let bucket = Self.bucket(of: UInt64(max(sample.wholeNanoseconds, 0)))
    if bucket >= counts.count {
      counts.append(contentsOf: repeatElement(0, count: bucket + 1 - counts.count))
    }
    counts[bucket] += 1
    count += 1
    maximum = max(maximum, sample)
  }

  /// The lateness that the given part (0 to 1) of all samples does not exceed; zero without samples.
  ///
  /// It is the upper bound of a bucket, and never more than ``maximum``.
  public func quantile(_ part: Double) -> Duration {
    let wanted = Int((Double(count) * min(max(part, 0), 1)).rounded(.up))
    var seen = 0
    for (bucket, number) in counts.enumerated() {
      seen += number
      if number > 0, seen >= wanted { return min(Self.bounds(of: bucket).upperBound, maximum) }
    }
    return .zero
  }

  /// The times that count towards bucket `bucket`, from the lower bound to just below the upper.
  public static func bounds(of bucket: Int) -> Range<Duration> {
    .nanoseconds(lowerBound(bucket))..<Duration.nanoseconds(lowerBound(bucket + 1))
  }

  private static func bucket(of nanoseconds: UInt64) -> Int {
    guard nanoseconds >= subdivisions else { return Int(nanoseconds) }
    let octave = 63 - nanoseconds.leadingZeroBitCount - subdivisionBits
    let part = nanoseconds >> UInt64(octave) - subdivisions
    return (octave + 1) * Int(subdivisions) + Int(part)
  }

  private static func lowerBound(_ bucket: Int) -> Int64 {
    let (octave, part) = bucket.quotientAndRemainder(dividingBy: Int(subdivisions))
    guard octave > 0 else { return Int64(part) }
    return Int64(clamping: (Int128(subdivisions) + Int128(part)) << Int128(octave - 1))
  }
}
