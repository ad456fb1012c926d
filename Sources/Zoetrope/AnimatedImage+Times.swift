extension AnimatedImage {
  /// How long one play lasts at normal speed: the sum over the frames, each as it is shown, cut down to
  /// a whole attosecond.
  ///
  /// - Parameter policy: how long a stored delay is shown. Default: as in a browser.
  public func duration(policy: DelayPolicy = .browser) -> Duration {
    let timeline = PlaybackTimeline(frames, policy: policy)
    return timeline.time(timeline.ticks(frames.indices), at: PlaybackRate(1))
  }

  /// When each frame of a play is shown, counted from the start of the play, and when the play ends:
  /// one entry more than there are frames.
  ///
  /// Each is the exact sum of the delays before it, cut down to a whole attosecond: where
  /// ``frameIndex(at:policy:)`` and ``FrameScheduler/seek(to:)`` find the frame. Sums of
  /// ``DelayPolicy/shownDuration(of:)`` fall short of it where delays are no whole nanoseconds.
  ///
  /// Takes time and memory in proportion to the number of frames.
  ///
  /// - Parameter policy: As of ``duration(policy:)``.
  public func startTimes(policy: DelayPolicy = .browser) -> [Duration] {
    PlaybackTimeline(frames, policy: policy).startTimes
  }

  /// The frame that is shown `time` after the start of the first play; negative times give frame 0.
  ///
  /// A frame is shown from its start time up to, and not including, the next one's. Takes time in
  /// proportion to the number of frames.
  public func frameIndex(at time: Duration, policy: DelayPolicy = .browser) -> Int {
    let timeline = PlaybackTimeline(frames, policy: policy)
    let play = timeline.ticks(frames.indices)
    let ticks = timeline.ticks(at: time)
    guard time >= .zero, play > 0 else { return 0 }
    if case .finite(let count) = playCount, ticks / play >= Int128(count) {
      return frames.count - 1
    }
    return timeline.frame(at: ticks % play, in: frames.indices)
  }
}
