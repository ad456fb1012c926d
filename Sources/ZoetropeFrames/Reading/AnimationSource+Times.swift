extension AnimationSource {
  /// Returns the duration of one play at normal speed. It is the sum of the delays as they are shown, rounded down to a
  /// whole attosecond. For a ``StreamedImage``, the sum covers the frames that have arrived.
  ///
  /// The frame of a still PNG has a delay of 0. Like any other frame with this delay, it lasts 0.1 s by default, and no
  /// time with ``DelayPolicy/exact``.
  ///
  /// - Parameter policy: How stored delays are interpreted. Default: as browsers interpret them.
  public func duration(policy: DelayPolicy = .browser) -> Duration {
    let timeline = PlaybackTimeline(origin.base.frames, policy: policy)
    return timeline.startTime(timeline.frameCount)
  }

  /// Returns the start time of each frame, relative to the start of the play, followed by the time at which the play
  /// ends. The array therefore has one element more than there are frames. For a ``StreamedImage``, it covers the
  /// frames that have arrived.
  ///
  /// Each time is the exact sum of the delays before it, rounded down to a whole attosecond. Given the start time of a
  /// frame, ``frameIndex(at:policy:)`` and ``FrameScheduler/seek(to:)`` find that frame. If delays are not whole
  /// nanoseconds, adding up the results of ``DelayPolicy/shownDuration(of:)`` gives earlier times.
  ///
  /// This method takes time and memory linear in the number of frames.
  ///
  /// - Parameter policy: How stored delays are interpreted. Default: as browsers interpret them.
  public func startTimes(policy: DelayPolicy = .browser) -> [Duration] {
    PlaybackTimeline(origin.base.frames, policy: policy).startTimes
  }

  /// Returns the index of the frame that is shown `time` after the start of the first play. Negative times count as 0.
  ///
  /// A frame is shown from its start time up to, but not including, the start time of the next frame. A time after the
  /// end of a play falls into the next play. If there is no next play, the last frame stays. This method takes time
  /// linear in the number of frames.
  ///
  /// While a ``StreamedImage`` is arriving, only one play of the frames that have arrived is considered, and a time
  /// after their end gives the last of them. Before any frame has arrived, the result is 0.
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
