public import Logging
internal import Synchronization

/// Plays an animation: publishes composited frames as an asynchronous sequence, each at its deadline.
///
/// Deadlines are absolute (the start time plus the sum of the preceding durations), so a late frame does not delay the
/// frames after it (see ``LatePolicy``). Frames are decoded ahead of time on the library's own threads, never on the
/// cooperative pool.
///
/// ```swift
/// let scheduler = FrameScheduler(image)
/// for try await frame in scheduler.play() { show(frame.bitmap) }
/// print(scheduler.state)
/// ```
///
/// **Endings.** The sequence that ``play()`` returns is also called the *stream*. A stream ends exactly once, and
/// ``state`` then gives the reason:
/// - `finished`: the last frame of the last play was shown for its full duration.
/// - `stopped`: ``stop()`` was called, or ``play()`` began a new stream.
/// - `cancelled`: the consumer's task was cancelled, the consumer left its loop or the stream was released.
/// - `failed`: the options are invalid for the image, or a frame cannot be decoded. In the second case, the previous
///   frame is still shown for its duration.
///
/// A stream ends immediately, although a frame that is being decoded at that moment is still completed.
///
/// A stream retains its scheduler, so `FrameScheduler(image).play()` works without a reference to the scheduler. The
/// methods may be called from any thread.
public final class FrameScheduler: Sendable {
  package let shared: SharedFrames
  private let makeTime: @Sendable () -> PlaybackTime
  private let logger: Logger?
  private let current: Mutex<Current>

  private struct Current {
    var session: PlaybackSession
    var isTaken = false
    var options: PlaybackOptions { didSet { optionsVersion += 1 } }
    /// The number of times that ``options`` changed. Comparing the options themselves would not work, because a rate of
    /// NaN never equals itself.
    private(set) var optionsVersion = 0

    init(session: PlaybackSession, options: PlaybackOptions) {
      self.session = session
      self.options = options
    }
  }

  /// Creates a scheduler for frames that other schedulers may share, without decoding any frame yet.
  ///
  /// - Parameters:
  ///   - shared: The frames, each of which is decoded once for all consumers.
  ///   - options: The playback options.
  ///   - clock: The clock that times the frames. Default: the system's clock.
  ///   - logger: A logger for the end of each stream with its statistics (level info, or warning after a failure), and
  ///     for skipped frames (level debug). Log handlers run on a dedicated thread. Default: nil, no logging.
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

  /// Creates a scheduler for `image`, without decoding any frame yet.
  ///
  /// If `image` is a ``StreamedImage``, the scheduler plays the frames that have arrived. While the next frame is
  /// missing, the current frame stays on screen, and ``PlaybackOptions/stallPolicy`` decides how the schedule continues
  /// afterwards. The first play lasts until the image or the frames of ``PlaybackOptions/range`` are complete; until
  /// then, ``ScheduledFrame/isLast`` is false. If the number of plays arrives later and is higher, playback goes on. If
  /// the image ends early, the frames that have arrived are played, and ``StreamedImage/waitUntilEnded()`` returns the
  /// reason. Playback fails if no frame of ``PlaybackOptions/range`` has arrived, or if a reduced motion shows a poster
  /// frame that never arrives. If ``PlaybackOptions/startIndex`` never arrives, playback starts at the last frame that
  /// did.
  ///
  /// If `image` is a ``RemoteImage``, a frame is late if its bytes are late, and ``PlaybackOptions/latePolicy`` decides
  /// what happens to late frames. Playback fails if bytes cannot be read.
  ///
  /// - Parameters:
  ///   - image: The image to play, which the scheduler retains.
  ///   - rendering: The size and format of the frames. Default: as decoded.
  ///   - options: The playback options.
  ///   - cache: The cache for decoded frames. Default: nil, no caching; memory use is then a few canvases, regardless
  ///     of the animation's length. With ``MemoryFrameCache/shared``, frames that fit in the cache's budget are decoded
  ///     once for all players, and the whole file is read once before the first frame, to compute its
  ///     ``ContentIdentity``. A ``StreamedImage`` is cached once it is complete; a ``RemoteImage`` is not cached.
  ///   - clock: The clock that times the frames. Default: the system's clock.
  ///   - logger: A logger for the end of each stream with its statistics (level info, or warning after a failure), and
  ///     for skipped frames (level debug). Log handlers run on a dedicated thread. Default: nil, no logging.
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

  /// Starts the threads that playback needs, unless they are running. Returns false if the system cannot create them.
  ///
  /// Without these threads, playback uses the cooperative pool. That pool may have to create a thread first, and then
  /// the caller waits until the system can create one. A caller that must not wait calls this method before it plays.
  package static func startThreads() -> Bool {
    PlaybackThread.shared.ensureThread() && DecodeThreads.shared.ensureThread()
  }

  private var session: PlaybackSession { current.withLock { $0.session } }

  /// Returns a sequence that plays the animation from the start and delivers each frame at its deadline.
  ///
  /// Playback begins when the consumer awaits the first frame. If playback fails, the sequence throws after the last
  /// intact frame has been consumed. The sequence has a single consumer; several consumers need one scheduler each (see
  /// ``SharedFrames``). Calling this method again ends the previous sequence.
  public func play() -> ScheduledFrames {
    ScheduledFrames(of: self, session: takeSession())
  }

  /// The playback state, which gives the reason if the stream has ended.
  public var state: PlaybackState { session.playbackState }

  /// Statistics since the start of the stream.
  public var statistics: PlaybackStatistics { session.state.withLock { $0.currentStatistics } }

  /// The recorded times of each frame since the start of the stream; empty unless ``PlaybackOptions/recordsTrace`` is
  /// set. The trace takes about 60 bytes of memory per frame.
  public var trace: PlaybackTrace { session.state.withLock { $0.trace } }

  /// Waits until playback has ended and returns its final state. Does not start playback.
  ///
  /// If the calling task is cancelled, the method immediately returns the current state.
  public func waitUntilEnded() async -> PlaybackState { await session.ending() }

  /// Pauses playback. The stream stays open, and the current frame stays on screen. If no frame has been shown yet, the
  /// first frame is still shown.
  public func pause() { session.control(.pause) }

  /// Resumes playback at the position where it was paused.
  public func resume() { session.control(.resume) }

  /// Ends the stream. Has no effect if the stream has already ended. A frame that is on its way to the consumer when
  /// this method is called may still arrive.
  public func stop() { session.end(.stopped) }

  /// Shows frame `index` as soon as the frame is decoded, and continues from there. A paused playback stays paused.
  ///
  /// A frame that is already being delivered still arrives before frame `index` (see ``seekCount``).
  ///
  /// - Returns: ``SeekResult/awaited`` if the frame belongs to a ``StreamedImage`` and has not arrived yet, otherwise
  ///   ``SeekResult/available``.
  /// - Throws: ``AnimatedImageError/Code/parameter`` if the frame is outside the played range. While a
  ///   ``StreamedImage`` is incomplete, an index past the frames that have arrived is no error, because the frame may
  ///   still arrive.
  @discardableResult
  public func seek(toFrame index: Int) throws(AnimatedImageError) -> SeekResult {
    let session = session
    if let result = session.seek(toFrame: index) { return result }
    let range = session.state.withLock { $0.machine.order.range }
    throw AnimatedImageError(.parameter, "frame \(index) is not within the played range \(range)")
  }

  /// Seeks to a time in the animation, measured from the start of frame 0 in forward playback at rate 1.
  ///
  /// This method finds the same frame as ``AnimationSource/frameIndex(at:policy:)``, unless the options change the
  /// number of plays, the range of frames or their delays. A frame's start time belongs to that frame. A time past the
  /// end of one play continues into the next play, so a time equal to the duration of one play is the start of the next
  /// play. A time past the last play refers to the last frame, and a time before the range refers to the first frame of
  /// the range; in either case, the frame is shown for its full delay. The number of remaining plays does not change.
  /// In all other respects, this method works like ``seek(toFrame:)``.
  ///
  /// - Returns: ``SeekResult/awaited`` if the frame belongs to a ``StreamedImage`` and has not arrived yet, otherwise
  ///   ``SeekResult/available``.
  @discardableResult
  public func seek(to time: Duration) -> SeekResult { session.seek(to: time) }

  /// The number of seeks so far.
  ///
  /// If you seek while another task consumes frames, compare this number with ``ScheduledFrame/seekCount``: a frame
  /// with a lower count was delivered before the seek.
  public var seekCount: Int { session.state.withLock { $0.seekCount } }

  /// The playback rate. A change takes effect immediately and without a jump in the animation; a frame that is already
  /// overdue keeps its deadline. See ``PlaybackOptions/rate``.
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

  /// The playback direction. After a change, the current frame stays on screen for as long again as it has already been
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

  /// Returns a session for a new stream: the existing session, or a new session if an earlier stream has taken the
  /// existing one.
  private func takeSession() -> PlaybackSession {
    var made: (session: PlaybackSession, version: Int)?
    while true {
      // Sessions are created and ended outside the lock, because creating or ending a session runs user code.
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
  /// Playback begins when the consumer awaits the first frame. Playback ends after the last frame, or when the consumer
  /// leaves its loop or its task is cancelled. To pause, to seek or to learn why playback ended, create a
  /// ``FrameScheduler``.
  ///
  /// - Parameters:
  ///   - rendering: The size and format of the frames. Default: as decoded.
  ///   - options: The playback options.
  ///   - cache: The cache for decoded frames. Default: nil, no caching.
  ///   - clock: The clock that times the frames. Default: the system's clock.
  ///   - logger: A logger for the end of playback with its statistics, and for skipped frames. Default: nil, no
  ///     logging.
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

/// The result of a seek: whether the requested frame has arrived.
public struct SeekResult: Sendable, Hashable {
  private enum Kind: Sendable, Hashable { case available, awaited }

  private let kind: Kind

  /// The requested frame has arrived. In a complete file, every frame has arrived.
  public static let available = SeekResult(kind: .available)
  /// The requested frame of a ``StreamedImage`` has not arrived.
  ///
  /// The current frame stays on screen, and playback continues at the requested frame as soon as it arrives. If the
  /// image ends without the requested frame, playback continues at the last frame. If the seek was to a time, and the
  /// image turns out to be shorter, the time continues into the next play, as in a complete file.
  public static let awaited = SeekResult(kind: .awaited)
}

extension SeekResult: CustomStringConvertible {
  /// The name of the result.
  public var description: String { kind == .available ? "available" : "awaited" }
}
