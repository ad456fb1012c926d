/// A frame of a playing animation, with its times.
public struct ScheduledFrame: Sendable {
  /// The index of the frame in the animation, from 0.
  public let index: Int
  /// The number of the play that the frame belongs to, from 0.
  public let play: Int
  /// The bitmap to show, which contains the whole canvas.
  public let bitmap: Bitmap
  /// The frame's delay, exactly as the file stores it.
  public let delay: FrameDelay
  /// The time for which the frame is shown: the stored delay, after the delay policy and the rate have been applied.
  /// After a seek into the middle of a frame, the duration is the rest of that time.
  public let duration: Duration
  /// The frame's deadline, relative to the deadline of the first frame. The time includes pauses and, with
  /// ``LatePolicy/stretch``, the lateness of earlier frames.
  public let presentationTime: Duration
  /// The time between the frame's deadline and its delivery. With ``LatePolicy/stretch``, all later deadlines move by
  /// this time.
  public let lateness: Duration
  /// The area in which the bitmap may differ from the bitmap of the last delivered frame; the whole canvas for the
  /// first frame.
  public internal(set) var dirtyRect: PixelRect
  /// The number of frames that were due after the last delivered frame but were not delivered, because they were
  /// skipped or replaced.
  public internal(set) var skipped: Int
  /// Whether this frame is the last frame of the last play. The last frame should stay on screen when the stream has
  /// ended.
  public let isLast: Bool
  /// The damage found while decoding the frame, if any.
  public let damage: Damage?
  /// The number of seeks before the frame was delivered.
  ///
  /// A frame that is already being delivered when ``FrameScheduler/seek(toFrame:)`` is called still arrives, but its
  /// `seekCount` is lower than ``FrameScheduler/seekCount``.
  public let seekCount: Int

  /// Creates a frame, for example to test a view.
  ///
  /// The default arguments describe a first frame without delay. If `duration` is nil, the duration is taken from
  /// `delay`; if `dirtyRect` is nil, the dirty rectangle is the whole bitmap.
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

/// An asynchronous sequence of the frames of a playing animation, each delivered at its deadline.
///
/// The sequence has one consumer. It ends after the last frame or when playback is stopped or cancelled, and throws if
/// playback fails. If the consumer's task is cancelled, the sequence ends without an error. The sequence and its
/// iterators retain the ``FrameScheduler``; playback also ends when the sequence and all its iterators are released.
public struct ScheduledFrames: AsyncSequence, Sendable {
  private let subscription: Subscription

  init(of scheduler: FrameScheduler, session: PlaybackSession) {
    subscription = Subscription(session, of: scheduler)
  }

  /// A stream's reference to its session and scheduler. The object is shared by the stream and its iterators. When the
  /// last of them releases it, playback ends.
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

  /// The frames of this sequence, as a stream that does not throw. If playback fails, the stream ends, and
  /// ``FrameScheduler/state`` gives the error.
  public var stream: AsyncStream<ScheduledFrame> {
    AsyncStream { [subscription] in await subscription.next() }
  }

  /// An iterator over the frames.
  public struct Iterator: AsyncIteratorProtocol {
    var subscription: Subscription?

    /// Waits for the next frame and returns it; returns nil if playback has finished, was stopped or was cancelled.
    ///
    /// If playback failed, this method throws the error once, after the last intact frame.
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

  /// Creates an iterator. Create only one, because each frame goes to only one iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }
}
