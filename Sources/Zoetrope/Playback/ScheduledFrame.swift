/// One frame of a playing animation, at its time.
public struct ScheduledFrame: Sendable {
  /// The frame's place in the animation, from 0.
  public let index: Int
  /// The play it belongs to, from 0.
  public let play: Int
  /// The whole canvas as it is to be shown.
  public let bitmap: Bitmap
  /// The delay exactly as the file stores it.
  public let delay: FrameDelay
  /// How long it is shown: the delay after delay policy and rate; the rest of it after a seek.
  public let duration: Duration
  /// Its deadline, counted from the first frame's. Pauses are part of it.
  public let presentationTime: Duration
  /// How long after its deadline it was handed over.
  public let lateness: Duration
  /// Where the picture may differ from the one the consumer got before; the whole canvas for the
  /// first frame.
  public internal(set) var dirtyRect: PixelRect
  /// Frames that the consumer did not get since the one before: overtaken ones and replaced ones.
  public internal(set) var skipped: Int
  /// Whether it is the last frame of the last play. It stays on screen when the stream has ended.
  public let isLast: Bool
  /// What was wrong with the frame, if anything.
  public let damage: Damage?
  /// How many seeks of the stream came before the frame was handed over.
  ///
  /// A frame that was on its way to the consumer when ``FrameScheduler/seek(toFrame:)`` was called
  /// arrives all the same: it has less than ``FrameScheduler/seekCount``.
  public let seekCount: Int
}
