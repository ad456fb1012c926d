/// Counters of a playback.
public struct PlaybackStatistics: Sendable, Hashable {
  /// Frames delivered to the stream.
  public internal(set) var presented = 0
  /// Frames skipped because their time was over (see ``LatePolicy``).
  public internal(set) var skipped = 0
  /// Frames replaced in the stream before the consumer took them (see ``FrameBuffering/newest``).
  public internal(set) var replaced = 0
  /// Frames decoded for this scheduler, not counting frames that another scheduler requested first.
  public internal(set) var decoded = 0
  /// The time spent decoding these frames, on the decoding threads.
  package internal(set) var decodeTime = Duration.zero
  /// The longest time spent decoding one of these frames.
  package internal(set) var maximumDecodeTime = Duration.zero
  /// The distribution of how long after their deadlines frames were delivered.
  package internal(set) var lateness = LatenessHistogram()

  /// The longest time after its deadline that a frame was delivered.
  public var maximumLateness: Duration { lateness.maximum }

  /// Returns the lateness that a fraction of all frames (0 to 1) does not exceed: 0.5 gives the median. Rounded up by
  /// at most a sixteenth; zero before the first frame.
  public func lateness(atQuantile quantile: Double) -> Duration { lateness.quantile(quantile) }

  /// The number of times that the next frame of a ``StreamedImage`` had not arrived when it was due.
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
