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
  /// Its deadline, counted from the first frame's, pauses included.
  public let presentationTime: Duration
  /// How long after its deadline it was delivered.
  public let lateness: Duration
  /// Where the picture may differ from the one the consumer got before; the whole canvas for the
  /// first frame.
  public internal(set) var dirtyRect: PixelRect
  /// Frames that the consumer did not get since the one before: overtaken ones and replaced ones.
  public internal(set) var skipped: Int
  /// Whether it is the last frame of the last play. It stays on screen when the stream has ended.
  public let isLast: Bool
  /// The damage found in the frame, if any.
  public let damage: Damage?
  /// The number of seeks before the frame was delivered.
  ///
  /// A frame on its way to the consumer when ``FrameScheduler/seek(toFrame:)`` is called still arrives:
  /// it has a lower count than ``FrameScheduler/seekCount``.
  public let seekCount: Int

  /// Creates a frame, such as for the tests of a view that shows frames.
  ///
  /// Each argument left out has the value of a first frame without delay. `duration` is the stored
  /// delay by default, and `dirtyRect` the whole picture.
  public init(
    index: Int, play: Int = 0, bitmap: Bitmap, delay: FrameDelay = FrameDelay(centiseconds: 0),
    duration: Duration? = nil, presentationTime: Duration = .zero, lateness: Duration = .zero,
    dirtyRect: PixelRect? = nil, skipped: Int = 0, isLast: Bool = false, damage: Damage? = nil,
    seekCount: Int = 0
  ) {
    self.index = index
    self.play = play
    self.bitmap = bitmap
    self.delay = delay
    self.duration = duration ?? delay.duration
    self.presentationTime = presentationTime
    self.lateness = lateness
    self.dirtyRect = dirtyRect ?? PixelRect(bitmap.size)
    self.skipped = skipped
    self.isLast = isLast
    self.damage = damage
    self.seekCount = seekCount
  }
}

/// The frames of a playing animation, each at its deadline.
///
/// Has one consumer and ends once, after the last frame or when playback is stopped or cancelled; it
/// throws what playback fails with. Cancelling the consumer's task ends it without an error. Playback
/// lasts as long as the sequence or an iterator exists, which also keep the ``FrameScheduler``.
public struct ScheduledFrames: AsyncSequence, Sendable {
  /// A frame at its time.
  public typealias Element = ScheduledFrame
  /// What playback fails with.
  public typealias Failure = AnimatedImageError

  private let subscription: FrameSubscription

  init(_ subscription: FrameSubscription) { self.subscription = subscription }

  /// The same frames as a stream that does not throw: a failure ends it, and
  /// ``FrameScheduler/state`` names the error.
  public var stream: AsyncStream<ScheduledFrame> {
    AsyncStream { [subscription] in await subscription.next() }
  }

  /// Takes frames one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var subscription: FrameSubscription?

    /// The next frame; nil when playback finished, was stopped or cancelled.
    ///
    /// Throws, once, what playback failed with, after the last good frame was taken.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AnimatedImageError) -> ScheduledFrame? {
      guard let subscription else { return nil }
      if let frame = await subscription.next() { return frame }
      self.subscription = nil
      if let error = subscription.error { throw error }
      return nil
    }
  }

  /// An iterator; a second one would take frames from the first.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }
}

/// A stream's hold on its session and scheduler: playback ends when the stream and its iterators are
/// gone, and this with them.
final class FrameSubscription: Sendable {
  private let session: PlaybackSession
  private let scheduler: FrameScheduler

  init(_ session: PlaybackSession, of scheduler: FrameScheduler) {
    self.session = session
    self.scheduler = scheduler
  }

  deinit { session.endInDeinit(.cancelled) }

  func next() async -> ScheduledFrame? { await session.next() }

  var error: AnimatedImageError? { session.playbackState.error }
}
