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

/// The frames of a scheduler, ending with an error when playback fails.
///
/// As ``FrameScheduler/frames()`` in every other respect: one consumer, one ending.
public struct ThrowingFrames: AsyncSequence, Sendable {
  /// A frame at its time.
  public typealias Element = ScheduledFrame
  /// What playback fails with.
  public typealias Failure = AnimatedImageError

  let nextFrame: @Sendable () async -> ScheduledFrame?
  let failure: @Sendable () -> AnimatedImageError?

  /// Takes frames one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var frames: ThrowingFrames?

    /// The next frame; nil when playback finished, was stopped or cancelled.
    ///
    /// Throws, once, what playback failed with, after the last good frame was taken.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AnimatedImageError) -> ScheduledFrame? {
      guard let frames else { return nil }
      if let frame = await frames.nextFrame() { return frame }
      self.frames = nil
      if let error = frames.failure() { throw error }
      return nil
    }
  }

  /// An iterator; a second one would take frames from the first.
  public func makeAsyncIterator() -> Iterator { Iterator(frames: self) }
}

/// A stream's hold on its session: when the stream and its iterators are gone, so is this, and
/// playback ends.
final class FrameSubscription: Sendable {
  private let session: PlaybackSession
  /// What lives as long as the stream, if anything.
  private let owner: (any AnyObject & Sendable)?

  init(_ session: PlaybackSession, keeping owner: (any AnyObject & Sendable)? = nil) {
    self.session = session
    self.owner = owner
  }

  deinit { session.endInDeinit(.cancelled) }

  func next() async -> ScheduledFrame? { await session.next() }

  var error: AnimatedImageError? {
    if case .failed(let error) = session.playbackState { error } else { nil }
  }
}
