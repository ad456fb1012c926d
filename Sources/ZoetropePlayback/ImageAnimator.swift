public import Logging
public import Observation

/// The current picture of a playing animation, as an observable property.
///
/// Use it for views that redraw when ``bitmap`` changes, through `withObservationTracking` or a user-interface
/// framework. It consumes the frames of a ``FrameScheduler``.
///
/// ```swift
/// let animator = ImageAnimator(image, rendering: Rendering(target: target))
/// animator.start()
/// ```
@MainActor
@Observable
public final class ImageAnimator {
  /// The current picture; nil before the first frame.
  public var bitmap: Bitmap? { frame?.bitmap }
  /// The current frame with its index and times; nil before the first one.
  public private(set) var frame: ScheduledFrame?
  /// The playback state, or why playback ended.
  public private(set) var state = PlaybackState.idle

  @ObservationIgnored private let scheduler: FrameScheduler
  @ObservationIgnored private var task: Task<Void, Never>?

  /// Creates an animator for `scheduler`, whose only consumer it must be.
  public init(_ scheduler: FrameScheduler) { self.scheduler = scheduler }

  /// Creates an animator for `image`. Decodes nothing yet.
  ///
  /// - Parameters:
  ///   - image: The image to play.
  ///   - rendering: The size and format of the frames. Default: as decoded.
  ///   - options: The playback options.
  ///   - cache: The cache for decoded frames. Default: nil, no caching.
  ///   - clock: The clock that frames are timed by. Default: the system's clock.
  ///   - logger: Logs endings with statistics, and skipped frames. Default: nil, no logging.
  public convenience init(
    _ image: some AnimationSource, rendering: Rendering = .init(),
    options: PlaybackOptions = .init(),
    cache: (any FrameCaching)? = nil, clock: some Clock<Duration> = ContinuousClock(),
    logger: Logger? = nil
  ) {
    self.init(
      FrameScheduler(
        image, rendering: rendering, options: options, cache: cache, clock: clock, logger: logger))
  }

  /// Ends playback, which does not outlive the animator.
  deinit { task?.cancel() }

  /// Plays from the start, or resumes after ``pause()``. Does nothing while playing.
  public func start() {
    if task != nil, !scheduler.state.isEnded {
      scheduler.resume()
      state = scheduler.state
    } else {
      restart()
    }
  }

  /// Pauses; the current frame stays. Does nothing unless playing.
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

  /// Plays from the start, in any state.
  public func restart() {
    task?.cancel()
    let frames = scheduler.play().stream
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
