/// One frame of a playing animation, with its times.
public struct ScheduledFrame: Sendable {
  /// The frame index, from 0.
  public let index: Int
  /// The play that the frame belongs to, from 0.
  public let play: Int
  /// The whole canvas to show.
  public let bitmap: Bitmap
  /// The delay exactly as the file stores it.
  public let delay: FrameDelay
  /// How long the frame is shown: its delay after applying the delay policy and the rate. After a seek into the middle
  /// of the frame, the rest of that time.
  public let duration: Duration
  /// The frame's deadline, counted from the deadline of the first frame. Includes pauses and, with
  /// ``LatePolicy/stretch``, the lateness of earlier frames.
  public let presentationTime: Duration
  /// How long after its deadline the frame was delivered. With ``LatePolicy/stretch``, later deadlines move by this
  /// time.
  public let lateness: Duration
  /// The area in which the bitmap may differ from the last one delivered; the whole canvas for the first frame.
  public internal(set) var dirtyRect: PixelRect
  /// The number of frames since the last delivered one that were not delivered, because they were skipped or replaced.
  public internal(set) var skipped: Int
  /// Whether this is the last frame of the last play. It stays on screen when the stream has ended.
  public let isLast: Bool
  /// The damage found in the frame, if any.
  public let damage: Damage?
  /// The number of seeks before the frame was delivered.
  ///
  /// A frame that is already being delivered when ``FrameScheduler/seek(toFrame:)`` is called still arrives, but with a
  /// lower count than ``FrameScheduler/seekCount``.
  public let seekCount: Int

  /// Creates a frame, for example to test a view.
  ///
  /// The defaults are those of a first frame without delay. `duration` defaults to the stored delay, and
  /// `dirtyRect` to the whole bitmap.
  public init(
    index: Int, play: Int = 0, bitmap: Bitmap,
    delay: FrameDelay = FrameDelay(numerator: 0, denominator: 100),
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
/// The sequence has one consumer. It ends after the last frame or when playback is stopped or cancelled, and throws if
/// playback fails. Cancelling the consumer's task ends it without an error. Playback lasts while the sequence or an
/// iterator exists; both retain the ``FrameScheduler``.
public struct ScheduledFrames: AsyncSequence, Sendable {
  private let subscription: Subscription

  init(of scheduler: FrameScheduler, session: PlaybackSession) {
    subscription = Subscription(session, of: scheduler)
  }

  /// A stream's reference to its session and scheduler. Playback ends when this object is released, together with the
  /// stream and its iterators.
  final class Subscription: Sendable {
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

  /// The same frames as a stream that does not throw. A failure ends it, and ``FrameScheduler/state`` has
  /// the error.
  public var stream: AsyncStream<ScheduledFrame> {
    AsyncStream { [subscription] in await subscription.next() }
  }

  /// Iterates over the frames.
  public struct Iterator: AsyncIteratorProtocol {
    var subscription: Subscription?

    /// Waits for the next frame; nil if playback has finished, was stopped or was cancelled.
    ///
    /// If playback failed, throws the error once, after the last intact frame.
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

  /// Creates an iterator. Use only one, because two iterators would take frames from each other.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }
}
