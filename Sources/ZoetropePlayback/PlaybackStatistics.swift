/// Statistics about the frames of one stream: how many were presented, skipped and decoded, and how late they were.
public struct PlaybackStatistics: Sendable, Hashable {
  /// The number of frames delivered to the stream.
  public internal(set) var presented = 0
  /// The number of frames skipped because their time was over (see ``LatePolicy``).
  public internal(set) var skipped = 0
  /// The number of frames that were delivered to the stream but replaced before the consumer took them (see
  /// ``FrameBuffering/newest``).
  public internal(set) var replaced = 0
  /// The number of frames decoded for this scheduler. Frames that another scheduler requested first are not counted.
  public internal(set) var decoded = 0
  /// The total time spent decoding the frames counted in ``decoded``, on the decoding threads.
  package internal(set) var decodeTime = Duration.zero
  /// The longest time spent decoding one of the frames counted in ``decoded``.
  package internal(set) var maximumDecodeTime = Duration.zero
  /// The distribution of the lateness of frames, which is the time between a frame's deadline and its delivery.
  package internal(set) var lateness = LatenessHistogram()

  /// The longest time between a frame's deadline and its delivery.
  public var maximumLateness: Duration { lateness.maximum }

  /// Returns the lateness that the given fraction of all frames (0 to 1) does not exceed. For example, 0.5 gives the
  /// median.
  ///
  /// The result is rounded up by at most a sixteenth. It is zero before the first frame.
  public func lateness(atQuantile quantile: Double) -> Duration { lateness.quantile(quantile) }

  /// The number of times that the next frame of a ``StreamedImage`` had not arrived when that frame was due.
  public internal(set) var stalls = 0
  /// The total time by which the frames counted in ``stalls`` arrived late.
  public internal(set) var stallTime = Duration.zero

  package init() {}
}

extension PlaybackStatistics: CustomStringConvertible {
  /// The statistics as `name=value` pairs on one line, as they are logged.
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
