/// What a playback has done so far.
public struct PlaybackStatistics: Sendable, Hashable {
  /// Frames handed to the stream.
  public internal(set) var presented = 0
  /// Frames passed over because their time was over (see ``LatePolicy``).
  public internal(set) var skipped = 0
  /// Frames replaced in the stream before the consumer took them (see ``FrameBuffering/newest``).
  public internal(set) var replaced = 0
  /// Frames decoded for this scheduler. Frames another one had asked for before are not counted.
  public internal(set) var decoded = 0
  /// Time spent decoding them, on the decoding threads.
  public internal(set) var decodeTime = Duration.zero
  /// The longest of these times.
  public internal(set) var maximumDecodeTime = Duration.zero
  /// How long after their deadlines frames were handed to the stream.
  public internal(set) var lateness = LatenessHistogram()

  /// Nothing done.
  public init() {}
}

extension PlaybackStatistics: CustomStringConvertible {
  /// One line of `name=value` pairs, as it is logged.
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
