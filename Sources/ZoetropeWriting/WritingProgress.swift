/// The progress of writing an animation.
public struct WritingProgress: Sendable, Hashable {
  /// The number of frames written.
  public let frameCount: Int
  /// The number of frames of the whole output; nil if it is not known in advance.
  public let totalFrameCount: Int?
  /// The number of bytes written to the sink.
  public let byteCount: Int
  /// The number of the attempt, from 1. To meet ``EditOptions/budget`` or to find the smallest file, an animation is
  /// encoded several times, and the other numbers start again with each attempt.
  public internal(set) var attempt = 1
}
