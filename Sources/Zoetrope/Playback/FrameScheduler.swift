public import Logging
internal import Synchronization

/// Plays an animation: publishes composited frames through a stream, each at its deadline.
///
/// Deadlines are absolute, start + sum of durations, so a late frame never delays the ones after it
/// (see ``LatePolicy``). Frames are decoded before their time on threads of their own, never on the
/// cooperative pool. Time comes from the clock that is passed in; tests pass a manual one.
///
/// ```swift
/// let scheduler = FrameScheduler(image)
/// for await frame in scheduler.frames() { show(frame.bitmap) }
/// print(scheduler.state)
/// ```
///
/// **Endings.** A stream ends exactly once and ``state`` says why: `finished` after the last frame of
/// the last play was held for its full time; `stopped` by ``stop()``; `cancelled` when the consumer's
/// task is cancelled, or the loop is left, or the stream or this object is dropped (so keep the
/// scheduler while frames are wanted, or use ``AnimatedImage/play(options:cache:clock:logger:)``);
/// `failed` when a frame cannot be decoded, once the frame before had its time, or when the options
/// make no sense for the image. Ending is immediate; of the work, at most one frame's decoding is
/// still completed.
///
/// Methods may be called from any thread.
public final class FrameScheduler<C: Clock>: Sendable where C.Duration == Duration {
  package let shared: SharedFrames
  private let clock: C
  private let logger: Logger?
  private let current: Mutex<Current>

  private struct Current {
    var session: PlaybackSession
    var isTaken = false
    var options: PlaybackOptions { didSet { optionsVersion += 1 } }
    /// Which options these are. Comparing them would not do: those with a NaN never equal themselves.
    private(set) var optionsVersion = 0

    init(session: PlaybackSession, options: PlaybackOptions) {
      self.session = session
      self.options = options
    }
  }

  /// A scheduler for frames that others may be showing too. Nothing is decoded yet.
  ///
  /// - Parameters:
  ///   - shared: the frames, and the decoding that its consumers share.
  ///   - options: how they are played.
  ///   - clock: where time comes from.
  ///   - logger: gets endings with statistics (info, failures as warnings) and skipped frames
  ///     (debug), on a thread for logging only. Default: nil, no logging.
  public init(
    sharing shared: SharedFrames, options: PlaybackOptions = .init(), clock: C,
    logger: Logger? = nil
  ) {
    self.shared = shared
    self.clock = clock
    self.logger = logger
    let session = PlaybackSession(
      shared, options: options, time: Self.time(of: clock), logger: logger)
    current = Mutex(Current(session: session, options: options))
  }

  /// A scheduler for `image` alone. Nothing is decoded yet.
  ///
  /// - Parameters:
  ///   - image: what is played.
  ///   - options: how it is played.
  ///   - cache: where frames are looked for before they are decoded, and kept. Default: nil, no frame
  ///     is kept, and playing takes some canvases of memory however long the animation is. With
  ///     ``MemoryFrameCache/shared``, frames that fit the budget are decoded once for all players.
  ///   - clock: where time comes from.
  ///   - logger: gets endings with statistics (info, failures as warnings) and skipped frames
  ///     (debug), on a thread for logging only. Default: nil, no logging.
  public convenience init(
    _ image: AnimatedImage, options: PlaybackOptions = .init(), cache: (any FrameCaching)? = nil,
    clock: C, logger: Logger? = nil
  ) {
    self.init(
      sharing: SharedFrames(image, cache: cache, keeping: 0), options: options, clock: clock,
      logger: logger)
  }

  deinit { session.endInDeinit(.cancelled) }

  private var session: PlaybackSession { current.withLock { $0.session } }

  /// The frames, from the start. Playback begins when the first one is awaited.
  ///
  /// Has one consumer; several need a scheduler each (see ``SharedFrames``). Calling it again stops
  /// the stream before and starts anew. The stream does not throw: ``state`` tells a failure, or use
  /// ``throwingFrames()``.
  public func frames() -> AsyncStream<ScheduledFrame> {
    stream(of: FrameSubscription(takeSession()))
  }

  /// As ``frames()``; the stream keeps the scheduler, which nobody else has.
  func framesKeepingScheduler() -> AsyncStream<ScheduledFrame> {
    stream(of: FrameSubscription(takeSession(), keeping: self))
  }

  private func stream(of subscription: FrameSubscription) -> AsyncStream<ScheduledFrame> {
    AsyncStream(unfolding: { await subscription.next() })
  }

  /// As ``frames()``, and throws what playback fails with.
  public func throwingFrames() -> ThrowingFrames {
    let subscription = FrameSubscription(takeSession())
    return ThrowingFrames(
      nextFrame: { await subscription.next() }, failure: { subscription.error })
  }

  /// What the scheduler is doing, or why the stream ended.
  public var state: PlaybackState { session.playbackState }

  /// What it has done since the stream began.
  public var statistics: PlaybackStatistics { session.state.withLock { $0.statistics } }

  /// The times of each frame since the stream began, with ``PlaybackOptions/recordsTrace``; some 60
  /// bytes a frame.
  public var trace: PlaybackTrace { session.state.withLock { $0.trace } }

  /// Waits for the stream to end and says why. Does not start it.
  ///
  /// When the calling task is cancelled it returns at once, with the state there is.
  public func ending() async -> PlaybackState { await session.ending() }

  /// Stops time. The stream stays open; what is on screen stays. Before the first frame: that frame is
  /// still shown.
  public func pause() { session.control(.pause) }

  /// Lets time go on where it was paused.
  public func resume() { session.control(.resume) }

  /// Ends the stream at once: after this call no further frame is handed over. Harmless when repeated.
  public func stop() { session.end(.stopped) }

  /// Shows frame `index` as soon as it is decoded and goes on from there; paused, it stays paused.
  ///
  /// A frame that is on its way to the consumer still arrives before it: see ``seekCount``.
  ///
  /// Throws ``AnimatedImageError/Code/parameter`` for a frame outside the range that is played.
  public func seek(toFrame index: Int) throws(AnimatedImageError) {
    let session = session
    let range = session.state.withLock { $0.machine.order.range }
    guard range.contains(index) else {
      throw AnimatedImageError(.parameter, "seek to \(index) of frames \(range)")
    }
    session.control(.seek(frame: index, offset: .zero))
  }

  /// Goes to a moment of the animation, counted at rate 1 from the start of frame 0.
  ///
  /// A frame's first instant belongs to that frame. Times outside the frames that are played become
  /// the nearest ones inside. Else as ``seek(toFrame:)``.
  public func seek(to time: Duration) {
    let session = session
    guard !session.playbackState.isEnded else { return }
    let order = session.state.withLock { $0.machine.order }
    let (frame, offset) = order.timeline.position(at: time, in: order.range)
    session.control(.seek(frame: frame, offset: offset))
  }

  /// How often the stream was sent to another place.
  ///
  /// Who seeks while another task takes frames compares it with ``ScheduledFrame/seekCount``: frames
  /// with less are from before.
  public var seekCount: Int { session.state.withLock { $0.seekCount } }

  /// How fast time runs. A change takes effect at once, without a jump; a frame that is overdue keeps
  /// its deadline. See ``PlaybackOptions/rate``.
  public var rate: Double {
    get { session.state.withLock { $0.machine.rate.value } }
    set {
      let session = current.withLock { current in
        current.options.rate = newValue
        return current.session
      }
      session.control(.setRate(PlaybackRate(newValue)))
    }
  }

  /// Which way time runs. After a change, what is on screen stays for as long as it has been there.
  public var direction: PlaybackDirection {
    get { session.state.withLock { $0.machine.direction } }
    set {
      let session = current.withLock { current in
        current.options.direction = newValue
        return current.session
      }
      session.control(.setDirection(newValue))
    }
  }

  /// A session for a new stream: the one at hand, unless a stream has it already.
  private func takeSession() -> PlaybackSession {
    var made: (session: PlaybackSession, version: Int)?
    while true {
      // Sessions are made and ended outside of the lock: both run code of the user's.
      let (taken, old, options, version) = current.withLock { current in
        let version = current.optionsVersion
        if !current.isTaken {
          current.isTaken = true
          return (
            current.session as PlaybackSession?, nil as PlaybackSession?, current.options, version
          )
        }
        guard let made, made.version == version else {
          return (nil, nil, current.options, version)
        }
        let old = current.session
        current.session = made.session
        return (made.session, old, current.options, version)
      }
      old?.end(.stopped)
      if let taken { return taken }
      let session = PlaybackSession(
        shared, options: options, time: Self.time(of: clock), logger: logger)
      made = (session, version)
    }
  }

  private static func time(of clock: C) -> any PlaybackTime {
    if clock is ContinuousClock { return SystemTime() }
    if let clock = clock as? any SystemClockAhead { return SystemTime(clock) }
    return ClockTime(clock)
  }
}

extension FrameScheduler where C == ContinuousClock {
  /// A scheduler for `image` alone, on the system's clock. Nothing is decoded yet.
  ///
  /// - Parameters:
  ///   - image: what is played.
  ///   - options: how it is played.
  ///   - cache: where frames are looked for and kept. Default: nil, none is.
  ///   - logger: gets endings with statistics and skipped frames. Default: nil, no logging.
  public convenience init(
    _ image: AnimatedImage, options: PlaybackOptions = .init(), cache: (any FrameCaching)? = nil,
    logger: Logger? = nil
  ) {
    self.init(image, options: options, cache: cache, clock: ContinuousClock(), logger: logger)
  }

  /// A scheduler for frames that others may be showing too, on the system's clock.
  public convenience init(
    sharing shared: SharedFrames, options: PlaybackOptions = .init(), logger: Logger? = nil
  ) {
    self.init(sharing: shared, options: options, clock: ContinuousClock(), logger: logger)
  }
}

extension AnimatedImage {
  /// The frames on time, each at its deadline, for one consumer who needs no control.
  ///
  /// A ``FrameScheduler`` of its own plays as long as the stream is there: it begins when the first
  /// frame is awaited, and ends after the last one, when the loop is left or its task is cancelled.
  /// The stream does not throw; a frame that cannot be decoded ends it. To pause, seek or learn why it
  /// ended, make a scheduler and keep it.
  ///
  /// - Parameters:
  ///   - options: how it is played.
  ///   - cache: where frames are looked for and kept. Default: nil, none is.
  ///   - clock: where time comes from. Default: the system's.
  ///   - logger: gets endings with statistics and skipped frames. Default: nil, no logging.
  public func play<C: Clock>(
    options: PlaybackOptions = .init(), cache: (any FrameCaching)? = nil,
    clock: C = ContinuousClock(), logger: Logger? = nil
  ) -> AsyncStream<ScheduledFrame> where C.Duration == Duration {
    FrameScheduler(self, options: options, cache: cache, clock: clock, logger: logger)
      .framesKeepingScheduler()
  }

  /// The image as a player reads it: on one core, unless that may be too slow.
  ///
  /// A scheduler decodes ahead of time anyway, and decoding on several cores holds four more canvases
  /// and wakes threads for every frame. From some 40 million pixels a second on, a tenth of what a
  /// core does to a GIF and a third of what it does to an APNG, all cores are used.
  var preparedForPlaying: AnimatedImage {
    guard options.parallelism == 0, pixelRate < Self.lightPixelRate else { return self }
    var image = self
    image.options.parallelism = 1
    return image
  }

  /// Whether decoding takes little of the time for which frames are shown, and a canvas takes little
  /// memory.
  var isLightToPlay: Bool {
    pixelRate < Self.lightPixelRate && canvasSize.area <= Self.lightArea
  }

  private static let lightPixelRate = 40_000_000.0
  private static let lightArea = 1 << 20

  /// Pixels that are decoded for each second of playing.
  private var pixelRate: Double {
    frames.reduce(0.0) { $0 + Double($1.rect.size.area) } / (duration() / .seconds(1))
  }
}
