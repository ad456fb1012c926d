public import Logging
public import Observation

/// An object whose observable properties hold the current frame of a playing animation.
///
/// Use an animator for views that redraw when ``bitmap`` changes, through `withObservationTracking` or a user-interface
/// framework. The animator consumes the frames of a ``FrameScheduler``.
///
/// ```swift
/// let animator = ImageAnimator(image, rendering: Rendering(target: target))
/// animator.start()
/// ```
@MainActor
@Observable
public final class ImageAnimator {
  /// The bitmap of the current frame; nil before the first frame.
  public var bitmap: Bitmap? { frame?.bitmap }
  /// The current frame with its index and times; nil before the first frame.
  public private(set) var frame: ScheduledFrame?
  /// The playback state, which gives the reason if playback has ended.
  public private(set) var state = PlaybackState.idle

  @ObservationIgnored private let scheduler: FrameScheduler
  @ObservationIgnored private var task: Task<Void, Never>?

  /// Creates an animator for `scheduler`. The animator must be the scheduler's only consumer. Use the scheduler to seek
  /// and to change the rate or the direction, but pause with ``pause()``: if you pause the scheduler, ``state`` does not
  /// change.
  public init(_ scheduler: FrameScheduler) { self.scheduler = scheduler }

  /// Creates an animator for `image`, without decoding any frame yet.
  ///
  /// - Parameters:
  ///   - image: The image to play.
  ///   - rendering: The size and format of the frames. Default: as decoded.
  ///   - options: The playback options.
  ///   - cache: The cache for decoded frames. Default: nil, no caching.
  ///   - clock: The clock that times the frames. Default: the system's clock.
  ///   - logger: A logger for the end of playback with its statistics, and for skipped frames. Default: nil, no
  ///     logging.
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

  /// Ends playback.
  deinit { task?.cancel() }

  /// Plays the animation from the start, or resumes it after ``pause()``. Has no effect while the animation is playing.
  public func start() {
    if task != nil, !scheduler.state.isEnded {
      scheduler.resume()
      let current = scheduler.state
      // The task of a playback that was just started may not have awaited a frame yet.
      state = current == .idle ? .playing : current
    } else {
      restart()
    }
  }

  /// Pauses playback; ``frame`` keeps the current frame. Has no effect before ``start()`` or after playback has ended.
  public func pause() {
    guard task != nil, !state.isEnded else { return }
    scheduler.pause()
    state = scheduler.state
  }

  /// Stops playback; ``frame`` keeps the current frame. Has no effect before ``start()`` or after playback has ended.
  public func stop() {
    guard task != nil, !state.isEnded else { return }
    scheduler.stop()
    task?.cancel()
    task = nil
    state = scheduler.state
  }

  /// Plays the animation from the start, regardless of its current state.
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
