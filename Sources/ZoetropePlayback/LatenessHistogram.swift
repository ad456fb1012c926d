/// A histogram of how late frames were, with buckets that are 1 ns wide, or no wider than 1/16 of their lower bound.
///
/// Memory use does not depend on the number of samples. Adding a sample costs a few nanoseconds.
package struct LatenessHistogram: Sendable, Hashable {
  /// The number of samples in each bucket. Buckets after the last element are empty.
  package private(set) var counts: [Int] = []
  /// The total number of samples.
  package private(set) var count = 0
  /// The greatest sample, or zero if there are no samples.
  package private(set) var maximum = Duration.zero

  private static let subdivisions: UInt64 = 16
  private static let subdivisionBits = 4

  /// Creates an empty histogram.
  package init() {}

  /// Adds one sample. A negative sample counts as zero.
  package mutating func record(_ sample: Duration) {
    let bucket = Self.bucket(of: UInt64(max(sample.wholeNanoseconds, 0)))
    if bucket >= counts.count {
      counts.append(contentsOf: repeatElement(0, count: bucket + 1 - counts.count))
    }
    counts[bucket] += 1
    count += 1
    maximum = max(maximum, sample)
  }

  /// Returns the lateness that the fraction `part` (0 to 1) of all samples does not exceed; zero if there are no
  /// samples.
  ///
  /// The result is the upper bound of a bucket, but not above ``maximum``.
  package func quantile(_ part: Double) -> Duration {
    let wanted = Int((Double(count) * min(max(part, 0), 1)).rounded(.up))
    var seen = 0
    for (bucket, number) in counts.enumerated() {
      seen += number
      if number > 0, seen >= wanted { return min(Self.bounds(of: bucket).upperBound, maximum) }
    }
    return .zero
  }

  /// Returns the range of times that fall into bucket `bucket`.
  package static func bounds(of bucket: Int) -> Range<Duration> {
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
