extension AnimatedImage {
  /// Returns the duration of one play at normal speed: the sum of the shown delays, rounded down to a whole
  /// attosecond.
  ///
  /// - Parameter policy: How stored delays are interpreted. Default: as browsers do.
  public func duration(policy: DelayPolicy = .browser) -> Duration {
    let timeline = PlaybackTimeline(frames, policy: policy)
    return timeline.time(timeline.ticks(frames.indices), at: PlaybackRate(1))
  }

  /// Returns the start time of each frame, relative to the start of the play, and the end of the play: one
  /// entry more than there are frames.
  ///
  /// Each is the exact sum of the delays before it, rounded down to a whole attosecond.
  /// ``frameIndex(at:policy:)`` and ``FrameScheduler/seek(to:)`` find the frame at this time. Sums of
  /// ``DelayPolicy/shownDuration(of:)`` are lower if delays are not whole nanoseconds.
  ///
  /// Takes time and memory linear in the number of frames.
  ///
  /// - Parameter policy: As in ``duration(policy:)``.
  public func startTimes(policy: DelayPolicy = .browser) -> [Duration] {
    PlaybackTimeline(frames, policy: policy).startTimes
  }

  /// Returns the index of the frame shown `time` after the start of the first play; negative times count as 0.
  ///
  /// A frame is shown from its start time up to, but not including, the next one's. A time past one play
  /// continues into the next, up to ``playCount``; after that the last frame stays. Takes time linear in the
  /// number of frames.
  public func frameIndex(at time: Duration, policy: DelayPolicy = .browser) -> Int {
    PlaybackTimeline(frames, policy: policy)
      .position(at: time, in: frames.indices, playCount: playCount).frame
  }
}
