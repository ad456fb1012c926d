extension AnimationSource {
  /// Returns the duration of one play at normal speed: the sum of the shown delays, rounded down to a whole attosecond.
  /// For a ``StreamedImage``, it covers the frames that have arrived.
  ///
  /// - Parameter policy: How stored delays are interpreted. Default: as browsers do.
  public func duration(policy: DelayPolicy = .browser) -> Duration {
    let timeline = PlaybackTimeline(origin.base.frames, policy: policy)
    return timeline.startTime(timeline.frameCount)
  }

  /// Returns the start time of each frame, relative to the start of the play, and the end of the play: one entry more
  /// than there are frames. For a ``StreamedImage``, they cover the frames that have arrived.
  ///
  /// Each time is the exact sum of the delays before it, rounded down to a whole attosecond. Given a frame's start
  /// time, ``frameIndex(at:policy:)`` and ``FrameScheduler/seek(to:)`` find that frame. Sums of
  /// ``DelayPolicy/shownDuration(of:)`` are lower if delays are not whole nanoseconds.
  ///
  /// Takes time and memory linear in the number of frames.
  ///
  /// - Parameter policy: As in ``duration(policy:)``.
  public func startTimes(policy: DelayPolicy = .browser) -> [Duration] {
    PlaybackTimeline(origin.base.frames, policy: policy).startTimes
  }

  /// Returns the index of the frame shown `time` after the start of the first play; negative times count as 0.
  ///
  /// A frame is shown from its start time up to, but not including, the next one's. A time past one play
  /// continues into the next, up to the number of plays; after that the last frame stays. Takes time linear in
  /// the number of frames.
  ///
  /// While a ``StreamedImage`` is arriving, a time past the frames that have arrived means the last of them. Before any
  /// frame has arrived, the result is 0.
  public func frameIndex(at time: Duration, policy: DelayPolicy = .browser) -> Int {
    let base = origin.base
    let arrival =
      base.arrivals?.arrival(after: 0)
      ?? FrameArrival(frames: base.frames, playCount: base.playCount, isOpen: false)
    guard !arrival.frames.isEmpty else { return 0 }
    return PlaybackTimeline(arrival.frames, policy: policy).position(
      at: time, in: arrival.frames.indices, playCount: arrival.isOpen ? .once : arrival.playCount
    ).frame
  }
}
