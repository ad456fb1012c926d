public import Logging
public import Observation

/// The current picture of a playing animation, as an observable property.
///
/// For a view that redraws when ``image`` changes, by whatever observes: `withObservationTracking`, a
/// user-interface framework, a test. A ``FrameScheduler`` of its own plays while it runs.
///
/// ```swift
/// let animator = ImageAnimator(image, rendering: Rendering(target: target))
/// animator.start()
/// ```
@MainActor
@Observable
public final class ImageAnimator {
  /// The picture on screen; nil before the first frame.
  public var image: Bitmap? { frame?.bitmap }
  /// The frame on screen, with its index and times; nil before the first one.
  public private(set) var frame: ScheduledFrame?
  /// What playback is doing, or why it ended.
  public private(set) var state = PlaybackState.idle

  @ObservationIgnored private let scheduler: FrameScheduler
  @ObservationIgnored private var task: Task<Void, Never>?

  /// Creates an animator of `scheduler`'s frames, of which it has to be the only consumer.
  public init(_ scheduler: FrameScheduler) { self.scheduler = scheduler }

  /// Creates an animator of `image`. Nothing is decoded yet.
  ///
  /// - Parameters:
  ///   - image: what is played.
  ///   - rendering: the size and format of the frames. Default: as decoded.
  ///   - options: how it is played.
  ///   - cache: where frames are looked up and kept. Default: nil, nowhere.
  ///   - clock: where time comes from. Default: the system's clock.
  ///   - logger: receives endings with statistics and skipped frames. Default: nil, no logging.
  public convenience init(
    _ image: AnimatedImage, rendering: Rendering = .init(), options: PlaybackOptions = .init(),
    cache: (any FrameCaching)? = nil, clock: some Clock<Duration> = ContinuousClock(),
    logger: Logger? = nil
  ) {
    self.init(
      FrameScheduler(
        image, rendering: rendering, options: options, cache: cache, clock: clock, logger: logger))
  }

  /// Playback ends with the animator.
  deinit { task?.cancel() }

  /// Starts playing from the start, or resumes after ``pause()``. Does nothing while it plays.
  public func start() {
    if task != nil, !scheduler.state.isEnded {
      scheduler.resume()
      state = scheduler.state
    } else {
      restart()
    }
  }

  /// Stops time; the current frame stays. Does nothing unless it plays.
  public func pause() {
    guard task != nil, !state.isEnded else { return }
    scheduler.pause()
    state = scheduler.state
  }

  /// Stops playing; the current frame stays.
  public func stop() {
    guard task != nil, !state.isEnded else { return }
    scheduler.stop()
    task?.cancel()
    task = nil
    state = scheduler.state
  }

  /// Plays from the start, whatever it was doing.
  public func restart() {
    task?.cancel()
    let frames = scheduler.frames().stream
    state = .playing
    task = Task { [weak self, scheduler] in
      for await frame in frames {
        guard let self, !Task.isCancelled else { return }
        self.frame = frame
      }
      if !Task.isCancelled { self?.state = scheduler.state }
    }
  }
}

extension FrameScheduler {
  /// Starts playing and returns at once; `handler` is called with each frame at its time.
  ///
  /// The counterpart of taking ``frames()`` for code without tasks. Calls come one after the other, on
  /// the cooperative pool, so a handler must not block; one that takes longer than its frame lasts
  /// misses frames unless ``PlaybackOptions/buffering`` is lossless. The scheduler lives until playback
  /// ends: call ``stop()``, or cancel the returned task.
  ///
  /// - Parameters:
  ///   - handler: gets each frame.
  ///   - onEnd: gets the reason once playback has ended. Default: nothing.
  @discardableResult
  public func start(
    _ handler: @escaping @Sendable (ScheduledFrame) -> Void,
    onEnd: @escaping @Sendable (PlaybackState) -> Void = { _ in }
  ) -> Task<Void, Never> {
    let frames = frames().stream
    return Task {
      for await frame in frames { handler(frame) }
      onEnd(await self.ending())
    }
  }
}
