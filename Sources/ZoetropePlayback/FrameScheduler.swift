public import Logging
internal import Synchronization

/// Plays an animation: publishes composited frames as an asynchronous sequence, each at its deadline.
///
/// Deadlines are absolute (the start plus the sum of durations), so a late frame does not delay the ones
/// after it (see ``LatePolicy``). Frames are decoded ahead of time on the library's own threads, never on
/// the cooperative pool.
///
/// ```swift
/// let scheduler = FrameScheduler(image)
/// for try await frame in scheduler.play() { show(frame.bitmap) }
/// print(scheduler.state)
/// ```
///
/// **Endings.** A stream ends exactly once, and ``state`` then gives the reason: `finished` after the last frame of the
/// last play was shown for its full duration; `stopped` by ``stop()``; `cancelled` if the consumer's task is cancelled,
/// the loop is left or the stream is released; `failed` if a frame cannot be decoded, after the previous frame was
/// shown for its duration, or if the options are invalid for the image. A stream ends immediately; at most one frame
/// that is being decoded is still completed.
///
/// A stream retains its scheduler, so `FrameScheduler(image).play()` works without a reference to the scheduler.
/// Methods may be called from any thread.
public final class FrameScheduler: Sendable {
  package let shared: SharedFrames
  private let makeTime: @Sendable () -> PlaybackTime
  private let logger: Logger?
  private let current: Mutex<Current>

  private struct Current {
    var session: PlaybackSession
    var isTaken = false
    var options: PlaybackOptions { didSet { optionsVersion += 1 } }
    /// The number of changes of ``options``. The options themselves cannot be compared, because NaN never equals
    /// itself.
    private(set) var optionsVersion = 0

    init(session: PlaybackSession, options: PlaybackOptions) {
      self.session = session
      self.options = options
    }
  }

  /// Creates a scheduler for frames that other schedulers may share. Decodes nothing yet.
  ///
  /// - Parameters:
  ///   - shared: The frames, which are decoded once for all their consumers.
  ///   - options: The playback options.
  ///   - clock: The clock that frames are timed by. Default: the system's clock.
  ///   - logger: Logs endings with statistics (info, failures as warnings) and skipped frames (debug), on a
  ///     dedicated thread. Default: nil, no logging.
  public init(
    sharing shared: SharedFrames, options: PlaybackOptions = .init(),
    clock: some Clock<Duration> = ContinuousClock(), logger: Logger? = nil
  ) {
    self.shared = shared
    self.logger = logger
    makeTime = { PlaybackTime(clock) }
    let session = PlaybackSession(shared, options: options, time: makeTime(), logger: logger)
    current = Mutex(Current(session: session, options: options))
  }

  /// Creates a scheduler for `image`. Decodes nothing yet.
  ///
  /// Plays the frames of a ``StreamedImage`` that have arrived. If the next frame is missing, the current one stays on
  /// screen, and ``PlaybackOptions/stallPolicy`` decides how the schedule continues. The first play ends with the
  /// stream; until then, ``ScheduledFrame/isLast`` is false. A stream that ended early is played as far as it arrived;
  /// ``StreamedImage/waitUntilEnded()`` returns the reason. Playback fails only if no frame arrived. If
  /// ``PlaybackOptions`` specify a first frame that never arrives, playback starts at the last one.
  ///
  /// A frame of a ``RemoteImage`` is late if its bytes are late; ``PlaybackOptions/latePolicy`` decides what happens
  /// then. Playback fails if bytes cannot be read.
  ///
  /// - Parameters:
  ///   - image: The image to play, which the scheduler retains.
  ///   - rendering: The size and format of the frames. Default: as decoded.
  ///   - options: The playback options.
  ///   - cache: The cache for decoded frames. Default: nil, no caching: memory use is a few canvases, regardless of the
  ///     animation's length. With ``MemoryFrameCache/shared``, frames that fit in the budget are decoded once for all
  ///     players, and the whole file is read once before the first frame, to compute its ``ContentIdentity``. A stream
  ///     is cached once it is complete; a remote image is not cached.
  ///   - clock: The clock that frames are timed by. Default: the system's clock.
  ///   - logger: Logs endings with statistics (info, failures as warnings) and skipped frames (debug), on a
  ///     dedicated thread. Default: nil, no logging.
  public convenience init(
    _ image: some AnimationSource, rendering: Rendering = .init(),
    options: PlaybackOptions = .init(), cache: (any FrameCaching)? = nil,
    clock: some Clock<Duration> = ContinuousClock(), logger: Logger? = nil
  ) {
    self.init(
      sharing: SharedFrames(image, rendering: rendering, cache: cache, keeping: 0),
      options: options, clock: clock, logger: logger)
  }

  deinit { session.endInDeinit(.cancelled) }

  private var session: PlaybackSession { current.withLock { $0.session } }

  /// Returns a sequence that plays from the start and delivers each frame at its deadline. Playback begins when the
  /// first frame is awaited.
  ///
  /// If playback fails, the sequence throws after the last intact frame has been consumed. It has a single consumer;
  /// several consumers need one scheduler each (see ``SharedFrames``). Calling this method again ends the previous
  /// sequence.
  public func play() -> ScheduledFrames {
    ScheduledFrames(of: self, session: takeSession())
  }

  /// The playback state, or why the stream ended.
  public var state: PlaybackState { session.playbackState }

  /// Statistics since the start of the stream.
  public var statistics: PlaybackStatistics { session.state.withLock { $0.currentStatistics } }

  /// The recorded times of each frame since the start of the stream, if ``PlaybackOptions/recordsTrace`` is set. Takes
  /// about 60 bytes per frame.
  public var trace: PlaybackTrace { session.state.withLock { $0.trace } }

  /// Waits until playback has ended and returns its final state. Does not start playback.
  ///
  /// Returns the current state as soon as the calling task is cancelled.
  public func waitUntilEnded() async -> PlaybackState { await session.ending() }

  /// Pauses playback. The stream stays open, and the current frame stays on screen. If no frame was shown yet, the
  /// first one is still shown.
  public func pause() { session.control(.pause) }

  /// Resumes playback where it was paused.
  public func resume() { session.control(.resume) }

  /// Ends the stream. No frame is delivered after this call. Further calls do nothing.
  public func stop() { session.end(.stopped) }

  /// Shows frame `index` as soon as it is decoded and continues from there; a paused playback stays paused.
  ///
  /// A frame that is already being delivered still arrives before frame `index`; see ``seekCount``.
  ///
  /// - Returns: ``SeekResult/awaited`` if the frame of a ``StreamedImage`` has not arrived yet, otherwise
  ///   ``SeekResult/available``.
  /// - Throws: ``AnimatedImageError/Code/parameter`` for a frame outside the played range. While a stream has not
  ///   ended, no frame is past its end, because any frame may still arrive.
  @discardableResult
  public func seek(toFrame index: Int) throws(AnimatedImageError) -> SeekResult {
    let session = session
    if let result = session.seek(toFrame: index) { return result }
    let range = session.state.withLock { $0.machine.order.range }
    throw AnimatedImageError(.parameter, "frame \(index) is not within the played range \(range)")
  }

  /// Seeks to a time in the animation, measured from the start of frame 0 in forward playback at rate 1.
  ///
  /// Finds the same frame as ``AnimationSource/frameIndex(at:policy:)``, unless the options change the number of plays,
  /// the range of frames or their delays. A frame's start time belongs to that frame. A time past one play continues
  /// into the next, so the duration of one play is the start of the next. A time past the last play means the last
  /// frame, and a time before the range means the first; both are shown for their full delay. The number of remaining
  /// plays does not change. Otherwise like ``seek(toFrame:)``.
  ///
  /// - Returns: ``SeekResult/awaited`` if the frame of a ``StreamedImage`` has not arrived yet,
  ///   otherwise ``SeekResult/available``.
  @discardableResult
  public func seek(to time: Duration) -> SeekResult { session.seek(to: time) }

  /// The number of seeks so far.
  ///
  /// Compare it with ``ScheduledFrame/seekCount`` if you seek while another task consumes frames: a frame with a lower
  /// count precedes the seek.
  public var seekCount: Int { session.state.withLock { $0.seekCount } }

  /// The playback rate. A change takes effect immediately and without a jump; an overdue frame keeps its
  /// deadline. See ``PlaybackOptions/rate``.
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

  /// The playback direction. After a change, the current frame stays on screen for as long as it has already been
  /// shown.
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

  /// Returns a session for a new stream: the prepared one, unless it was already taken.
  private func takeSession() -> PlaybackSession {
    var made: (session: PlaybackSession, version: Int)?
    while true {
      // Create and end sessions outside the lock, because both run user code.
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

extension AnimationSource {
  /// Returns a sequence that plays the image for one consumer and delivers each frame at its deadline.
  ///
  /// Playback begins when the first frame is awaited. It ends after the last frame, or when the loop is left or its
  /// task is cancelled. To pause, to seek or to learn why playback ended, create a ``FrameScheduler``.
  ///
  /// - Parameters:
  ///   - rendering: The size and format of the frames. Default: as decoded.
  ///   - options: The playback options.
  ///   - cache: The cache for decoded frames. Default: nil, no caching.
  ///   - clock: The clock that frames are timed by. Default: the system's clock.
  ///   - logger: Logs endings with statistics, and skipped frames. Default: nil, no logging.
  public func play(
    rendering: Rendering = .init(), options: PlaybackOptions = .init(),
    cache: (any FrameCaching)? = nil, clock: some Clock<Duration> = ContinuousClock(),
    logger: Logger? = nil
  ) -> ScheduledFrames {
    FrameScheduler(
      self, rendering: rendering, options: options, cache: cache, clock: clock, logger: logger
    ).play()
  }
}

/// The result of a seek: whether the requested frame of a stream has arrived.
public struct SeekResult: Sendable, Hashable {
  private enum Kind: Sendable, Hashable { case available, awaited }

  private let kind: Kind

  /// The frame has arrived. This is always the case for a whole file.
  public static let available = SeekResult(kind: .available)
  /// The frame has not arrived. The current one stays on screen, and playback continues at the requested frame as soon
  /// as it arrives. If the stream ends without that frame, playback continues at the last frame. A requested time past
  /// the end then continues into the next play, as in a whole file.
  public static let awaited = SeekResult(kind: .awaited)
}

extension SeekResult: CustomStringConvertible {
  /// The result's name.
  public var description: String { kind == .available ? "available" : "awaited" }
}
