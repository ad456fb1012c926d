/// Counters of a playback.
public struct PlaybackStatistics: Sendable, Hashable {
  /// Frames delivered to the stream.
  public internal(set) var presented = 0
  /// Frames skipped because their time was over (see ``LatePolicy``).
  public internal(set) var skipped = 0
  /// Frames replaced in the stream before the consumer took them (see ``FrameBuffering/newest``).
  public internal(set) var replaced = 0
  /// Frames decoded for this scheduler, not counting frames that another one requested first.
  public internal(set) var decoded = 0
  /// Time spent decoding them, on the decoding threads.
  package internal(set) var decodeTime = Duration.zero
  /// The longest of these times.
  package internal(set) var maximumDecodeTime = Duration.zero
  /// How long after their deadlines frames were delivered.
  package internal(set) var lateness = LatenessHistogram()

  /// The longest time after its deadline that a frame was delivered.
  public var maximumLateness: Duration { lateness.maximum }

  /// The lateness that the fraction `part` (0 to 1) of all frames does not exceed, rounded up by at most a sixteenth;
  /// zero before the first frame.
  public func lateness(ofFraction part: Double) -> Duration { lateness.quantile(part) }

  /// How often the next frame of a ``StreamedImage`` had not arrived when it was due.
  public internal(set) var stalls = 0
  /// The total time by which those frames were late.
  public internal(set) var stallTime = Duration.zero

  package init() {}
}

extension PlaybackStatistics: CustomStringConvertible {
  /// One line of `name=value` pairs, as logged.
  public var description: String {
    """
    presented=\(presented) skipped=\(skipped) replaced=\(replaced) decoded=\(decoded) \
    decode_us=\(decodeTime.wholeNanoseconds / 1000) \
    decode_max_us=\(maximumDecodeTime.wholeNanoseconds / 1000) \
    late_p50_us=\(lateness.quantile(0.5).wholeNanoseconds / 1000) \
    late_p99_us=\(lateness.quantile(0.99).wholeNanoseconds / 1000) \
    late_max_us=\(lateness.maximum.wholeNanoseconds / 1000)
    """
  }
}

/// A histogram of lateness, in buckets at most 1/16 of their value wide.
///
/// Memory use does not depend on the number of samples. Adding one costs a few nanoseconds.
package struct LatenessHistogram: Sendable, Hashable {
  /// The number of samples in each bucket. Buckets past the last one are empty.
  package private(set) var counts: [Int] = []
  /// The total number of samples.
  package private(set) var count = 0
  /// The greatest sample.
  package private(set) var maximum = Duration.zero

  private static let subdivisions: UInt64 = 16
  private static let subdivisionBits = 4

  /// Creates an empty histogram.
  package init() {}

  /// Adds one sample; a negative one counts as zero.
  package mutating func record(_ sample: Duration) {
    let bucket = Self.bucket(of: UInt64(max(sample.wholeNanoseconds, 0)))
    if bucket >= counts.count {
      counts.append(contentsOf: repeatElement(0, count: bucket + 1 - counts.count))
    }
    counts[bucket] += 1
    count += 1
    maximum = max(maximum, sample)
  }

  /// The lateness that the fraction `part` (0 to 1) of all samples does not exceed; zero without samples.
  ///
  /// The result is the upper bound of a bucket, at most ``maximum``.
  package func quantile(_ part: Double) -> Duration {
    let wanted = Int((Double(count) * min(max(part, 0), 1)).rounded(.up))
    var seen = 0
    for (bucket, number) in counts.enumerated() {
      seen += number
      if number > 0, seen >= wanted { return min(Self.bounds(of: bucket).upperBound, maximum) }
    }
    return .zero
  }

  /// The range of times in bucket `bucket`.
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

/// The times of each frame of a playback, for measuring and replaying it.
///
/// All times are nanoseconds since playback began to prepare its first frame.
public struct PlaybackTrace: Sendable, Hashable {
  /// One frame delivered to the stream.
  package struct Entry: Sendable, Hashable {
    /// The frame index.
    package var index: Int
    /// The play it belongs to.
    package var play: Int
    /// When it should have been shown.
    package var deadline: Int64
    /// When it was decoded and free to be shown.
    package var decoded: Int64
    /// When it was delivered to the stream.
    package var yielded: Int64
    /// How long after its deadline it was delivered.
    package var lateness: Int64
    /// Frames skipped before it.
    package var skipped: Int

    /// Creates an entry.
    package init(
      index: Int, play: Int, deadline: Int64, decoded: Int64, yielded: Int64, lateness: Int64,
      skipped: Int
    ) {
      self.index = index
      self.play = play
      self.deadline = deadline
      self.decoded = decoded
      self.yielded = yielded
      self.lateness = lateness
      self.skipped = skipped
    }
  }

  /// The entries in the order of delivery.
  package var entries: [Entry]

  /// Creates a trace.
  package init(entries: [Entry] = []) { self.entries = entries }
}

extension PlaybackTrace.Entry {
  /// One JSON object on one line. All members are integers, times in nanoseconds.
  package var json: String {
    var json = JSONWriter()
    json.object {
      $0.field("index", index)
      $0.field("play", play)
      $0.field("deadline", Int(deadline))
      $0.field("decoded", Int(decoded))
      $0.field("yielded", Int(yielded))
      $0.field("lateness", Int(lateness))
      $0.field("skipped", skipped)
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}

extension PlaybackTrace {
  /// The trace as JSON: an object whose `frames` array has one entry per line.
  public var json: String {
    "{\"schema\":\"zoetrope.trace/1\",\"unit\":\"ns\",\"frames\":[\n"
      + entries.map(\.json).joined(separator: ",\n") + "\n]}\n"
  }
}
