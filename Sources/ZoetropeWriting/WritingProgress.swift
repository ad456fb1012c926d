/// The progress of writing an animation.
public struct WritingProgress: Sendable, Hashable {
  /// The number of frames written.
  public let frameCount: Int
  /// The number of frames in the whole output, or nil if the number is not known in advance.
  public let totalFrameCount: Int?
  /// The number of bytes of the output so far.
  public let byteCount: Int
  /// The number of the current attempt, counted from 1. An animation is encoded several times to meet
  /// ``EditOptions/budget``, to find the smallest file, to see whether ``EditOptions/tolerance`` saves bytes, or to
  /// make smaller pictures take no more bytes than the source. In each attempt, ``frameCount`` and ``byteCount`` start
  /// again from 0.
  public internal(set) var attempt = 1
  /// Whether the current attempt only estimates the size of a file. It then consists of some of the frames, or of all
  /// frames of a short animation.
  public internal(set) var isSample = false
}
