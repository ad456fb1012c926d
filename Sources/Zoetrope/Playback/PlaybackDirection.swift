/// Which way time runs through the frames.
public enum PlaybackDirection: String, Sendable, Hashable {
  /// From the first frame to the last.
  case forward
  /// From the last frame to the first.
  case backward

  /// The other direction.
  public var reversed: PlaybackDirection { self == .forward ? .backward : .forward }

  /// What one step adds to a frame's index.
  var offset: Int { self == .forward ? 1 : -1 }
}
