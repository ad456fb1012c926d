extension AnimatedImage {
  /// How long one play lasts at normal speed: the sum over the frames, each as it is shown, exactly.
  ///
  /// - Parameter policy: how long a stored delay is shown. Default: as in a browser.
  public func duration(policy: DelayPolicy = .browser) -> Duration {
    frames.reduce(.zero) { $0 + policy.shownDuration(of: $1.delay) }
  }

  /// When each frame of a play is shown, counted from the start of the play, and when the play ends:
  /// one entry more than there are frames.
  ///
  /// Takes time and memory in proportion to the number of frames.
  ///
  /// - Parameter policy: As of ``duration(policy:)``.
  public func startTimes(policy: DelayPolicy = .browser) -> [Duration] {
    var times = [Duration.zero]
    times.reserveCapacity(frames.count + 1)
    var time = Duration.zero
    for frame in frames {
      time += policy.shownDuration(of: frame.delay)
      times.append(time)
    }
    return times
  }

  /// The frame that is shown `time` after the start of the first play; negative times give frame 0.
  ///
  /// A frame is shown from its presentation time up to, and not including, the next one's. Takes
  /// time in proportion to the number of frames.
  public func frameIndex(at time: Duration, policy: DelayPolicy = .browser) -> Int {
    let play = duration(policy: policy)
    guard time >= .zero, play > .zero else { return 0 }
    var rest = time
    switch playCount {
    // Divided, since all plays together may last longer than a `Duration` can.
    case .finite(let count) where time / count >= play: return frames.count - 1
    case .finite, .indefinite:
      // Whole plays are taken off in halving steps: `Duration` has no remainder.
      var span = play
      while span <= rest / 2 { span = span * 2 }
      while span >= play {
        if span <= rest { rest -= span }
        span = span / 2
      }
    }
    for (index, frame) in frames.enumerated() {
      let duration = policy.shownDuration(of: frame.delay)
      if rest < duration { return index }
      rest -= duration
    }
    return frames.count - 1
  }
}
