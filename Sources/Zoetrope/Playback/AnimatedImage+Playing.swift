public import Logging

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
