/// The times of each frame of a playback, for measuring it and for playing it again.
///
/// All times are whole nanoseconds since the playback began to prepare its first frame.
public struct PlaybackTrace: Sendable, Hashable {
  /// One frame that was handed to the stream.
  public struct Entry: Sendable, Hashable {
    /// The frame's place in the animation.
    public var index: Int
    /// The play it belongs to.
    public var play: Int
    /// When it was to be shown.
    public var deadline: Int64
    /// When the scheduler had it in hand, decoded and free to be shown.
    public var decoded: Int64
    /// When it was handed to the stream.
    public var yielded: Int64
    /// How long after its deadline it was handed over.
    public var lateness: Int64
    /// Frames passed over before it.
    public var skipped: Int

    /// One frame's times.
    public init(
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

  /// The frames in the order in which they were shown.
  public var entries: [Entry]

  /// A trace of these frames.
  public init(entries: [Entry] = []) { self.entries = entries }
}
