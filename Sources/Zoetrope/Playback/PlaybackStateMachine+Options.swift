extension PlaybackStateMachine {
  /// A machine that plays `shared` as `options` say; one that has failed when they make no sense.
  init(for shared: SharedFrames, options: PlaybackOptions) {
    do throws(AnimatedImageError) {
      try self.init(frames: shared.frames, playCount: shared.playCount, options: options)
    } catch {
      self.init(
        order: PlaybackOrder(
          timeline: PlaybackTimeline([]), range: 0..<1, playCount: .once, bounces: false),
        direction: .forward, rate: PlaybackRate(1), latePolicy: .skip)
      state = .failed(error)
    }
  }

  package init(
    frames: [FrameControl], playCount: PlayCount, options: PlaybackOptions
  ) throws(AnimatedImageError) {
    guard !frames.isEmpty else { throw AnimatedImageError(.noFrames, "there is no frame to play") }
    let all = 0..<frames.count
    var range = options.range ?? all
    guard !range.isEmpty, all.contains(range.lowerBound), range.upperBound <= all.upperBound else {
      throw AnimatedImageError(.parameter, "frames \(range) of \(all)")
    }
    let plays = options.playCount ?? playCount
    if case .finite(let count) = plays, count < 1 {
      throw AnimatedImageError(.parameter, "\(count) plays")
    }
    if let delay = options.fixedDelay, delay < .zero {
      throw AnimatedImageError(.parameter, "a delay of \(delay)")
    }
    var start = options.startIndex
    if options.reducesMotion {
      let poster = options.posterIndex ?? start ?? range.lowerBound
      guard all.contains(poster) else {
        throw AnimatedImageError(.parameter, "poster \(poster) of frames \(all)")
      }
      range = poster..<poster + 1
      start = poster
    }
    if let start, !range.contains(start) {
      throw AnimatedImageError(.parameter, "start at \(start) of frames \(range)")
    }
    let order = PlaybackOrder(
      timeline: PlaybackTimeline(
        frames, policy: options.delayPolicy, fixedDelay: options.fixedDelay),
      range: range, playCount: plays, bounces: options.bounces)
    self.init(
      order: order, startIndex: start, direction: options.direction,
      rate: PlaybackRate(options.rate),
      latePolicy: options.latePolicy, showsPoster: options.reducesMotion)
  }
}
