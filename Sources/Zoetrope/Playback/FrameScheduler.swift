public import Logging
internal import Synchronization

/// Plays an animation: publishes composited frames through a stream, each at its deadline.
///
/// Deadlines are absolute, start + sum of durations, so a late frame never delays the ones after it
/// (see ``LatePolicy``). Frames are decoded ahead of time on the library's own threads, never on the
/// cooperative pool.
///
/// ```swift
/// let scheduler = FrameScheduler(image)
/// for try await frame in scheduler.frames() { show(frame.bitmap) }
/// print(scheduler.state)
/// ```
///
/// **Endings.** A stream ends exactly once and ``state`` says why: `finished` after the last frame of
/// the last play was held for its full time; `stopped` by ``stop()``; `cancelled` when the consumer's
/// task is cancelled, the loop is left or the stream is dropped; `failed` when a frame cannot be
/// decoded, once the frame before had its time, or when the options are invalid for the image. Ending
/// is immediate: at most one frame's decoding is still completed.
///
/// A stream keeps its scheduler, so `FrameScheduler(image).frames()` plays. Methods may be called from
/// any thread.
public final class FrameScheduler: Sendable {
  package let shared: SharedFrames
  private let makeTime: @Sendable () -> any PlaybackTime
  private let logger: Logger?
  private let current: Mutex<Current>

  private struct Current {
    var session: PlaybackSession
    var isTaken = false
    var options: PlaybackOptions { didSet { optionsVersion += 1 } }
    /// Counts changes of ``options``, which cannot be compared: a NaN never equals itself.
    private(set) var optionsVersion = 0

    init(session: PlaybackSession, options: PlaybackOptions) {
      self.session = session
      self.options = options
    }
  }

  /// Creates a scheduler for frames that others may be showing too. Nothing is decoded yet.
  ///
  /// - Parameters:
  ///   - shared: the frames, and the decoding that its consumers share.
  ///   - options: how they are played.
  ///   - clock: where time comes from. Default: the system's clock.
  ///   - logger: receives endings with statistics (info, failures as warnings) and skipped frames
  ///     (debug), on a thread for logging only. Default: nil, no logging.
  public init(
    sharing shared: SharedFrames, options: PlaybackOptions = .init(),
    clock: some Clock<Duration> = ContinuousClock(), logger: Logger? = nil
  ) {
    self.shared = shared
    self.logger = logger
    makeTime =
      if clock is ContinuousClock {
        { SystemTime() }
      } else if let clock = clock as? any SystemClockAhead {
        { SystemTime(clock) }
      } else {
        { ClockTime(clock) }
      }
    let session = PlaybackSession(shared, options: options, time: makeTime(), logger: logger)
    current = Mutex(Current(session: session, options: options))
  }

  /// Creates a scheduler for `image` alone. Nothing is decoded yet.
  ///
  /// - Parameters:
  ///   - image: what is played.
  ///   - rendering: the size and format of the frames. Default: as decoded.
  ///   - options: how it is played.
  ///   - cache: where frames are looked up before they are decoded, and kept. Default: nil, no frame
  ///     is kept, and playing takes some canvases of memory however long the animation is. With
  ///     ``MemoryFrameCache/shared``, frames that fit the budget are decoded once for all players; the
  ///     whole file is then read once before the first frame, for its ``ContentIdentity``.
  ///   - clock: where time comes from. Default: the system's clock.
  ///   - logger: receives endings with statistics (info, failures as warnings) and skipped frames
  ///     (debug), on a thread for logging only. Default: nil, no logging.
  public convenience init(
    _ image: AnimatedImage, rendering: Rendering = .init(), options: PlaybackOptions = .init(),
    cache: (any FrameCaching)? = nil, clock: some Clock<Duration> = ContinuousClock(),
    logger: Logger? = nil
  ) {
    self.init(
      sharing: SharedFrames(image, rendering: rendering, cache: cache, keeping: 0),
      options: options, clock: clock, logger: logger)
  }

  deinit { session.endInDeinit(.cancelled) }

  private var session: PlaybackSession { current.withLock { $0.session } }

  /// The frames, from the start. Playback begins when the first one is awaited.
  ///
  /// Throws what playback fails with, after the last good frame was taken; take
  /// ``ScheduledFrames/stream`` where a failure need only end the loop. Has one consumer; several need
  /// a scheduler each (see ``SharedFrames``). Calling it again stops the previous stream and starts
  /// over.
  public func frames() -> ScheduledFrames {
    ScheduledFrames(FrameSubscription(takeSession(), of: self))
  }

  /// What the scheduler is doing, or why the stream ended.
  public var state: PlaybackState { session.playbackState }

  /// What it has done since the stream began.
  public var statistics: PlaybackStatistics { session.state.withLock { $0.statistics } }

  /// The times of each frame since the stream began, if ``PlaybackOptions/recordsTrace`` is set; some
  /// 60 bytes a frame.
  public var trace: PlaybackTrace { session.state.withLock { $0.trace } }

  /// Waits for the stream to end and returns why. Does not start it.
  ///
  /// Returns the current state as soon as the calling task is cancelled.
  public func ending() async -> PlaybackState { await session.ending() }

  /// Stops time. The stream stays open and the current frame on screen. Before the first frame, that
  /// frame is still shown.
  public func pause() { session.control(.pause) }

  /// Resumes time where it was paused.
  public func resume() { session.control(.resume) }

  /// Ends the stream at once: after this call no further frame is delivered. Harmless when repeated.
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

  /// The number of seeks so far.
  ///
  /// Compare it with ``ScheduledFrame/seekCount`` when seeking while another task takes frames: a frame
  /// with a lower count is from before the seek.
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

  /// A session for a new stream: the prepared one, unless a stream has taken it.
  private func takeSession() -> PlaybackSession {
    var made: (session: PlaybackSession, version: Int)?
    while true {
      // Sessions are made and ended outside of the lock, since both run code of the user's.
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
        shared, options: options, time: makeTime(), logger: logger)
      made = (session, version)
    }
  }
}

extension AnimatedImage {
  /// The frames on time, each at its deadline, for one consumer who needs no control.
  ///
  /// Playback begins when the first frame is awaited, and ends after the last one, when the loop is
  /// left or its task is cancelled. To pause, seek or learn why it ended, make a ``FrameScheduler``.
  ///
  /// - Parameters:
  ///   - rendering: the size and format of the frames. Default: as decoded.
  ///   - options: how it is played.
  ///   - cache: where frames are looked up and kept. Default: nil, nowhere.
  ///   - clock: where time comes from. Default: the system's clock.
  ///   - logger: receives endings with statistics and skipped frames. Default: nil, no logging.
  public func play(
    rendering: Rendering = .init(), options: PlaybackOptions = .init(),
    cache: (any FrameCaching)? = nil, clock: some Clock<Duration> = ContinuousClock(),
    logger: Logger? = nil
  ) -> ScheduledFrames {
    FrameScheduler(
      self, rendering: rendering, options: options, cache: cache, clock: clock, logger: logger
    ).frames()
  }
}
