/// Playback of an image that is still arriving.
///
/// While the next frame is missing, the machine suspends with the current frame on screen. When more frames have
/// arrived, the machine decides again.
extension PlaybackStateMachine {
  /// Whether playback has to wait because the next frame has not arrived.
  var isStarved: Bool {
    guard !state.isEnded else { return false }
    if let pending { return !order.contains(pending.frame) }
    guard order.isOpen else { return false }
    return shown.map { order.successor(of: $0) == .unknown } ?? true
  }

  /// Whether the next frame, or the frame at a requested time, has not arrived.
  var isPendingAwaited: Bool {
    awaitedTime != nil || pending.map { !order.contains($0.frame) } ?? false
  }

  /// Adds frames that have arrived, and continues if playback was waiting for these frames.
  mutating func arrive(_ arrival: FrameArrival, at now: Duration) -> Action {
    let wasStarved = isStarved
    let timescale = order.timeline.timescale
    order.extend(
      by: arrival.frames, playCount: hasOwnPlayCount ? nil : arrival.playCount,
      isOpen: arrival.isOpen)
    rescaleSteps(from: timescale)
    guard wasStarved else { return playAgain() }
    if order.range.isEmpty, !order.isOpen {
      let count = order.timeline.frameCount
      let missing =
        count > 0
        ? AnimatedImageError.noFrame(order.range.lowerBound, of: count)
        : AnimatedImageError(.noFrames, "no frame has arrived")
      return end(.failed(arrival.error ?? missing))
    }
    if let time = awaitedTime { return arrive(at: time) }
    guard let awaited = pending else { return goOn(at: now) }
    if order.isOpen, !order.contains(awaited.frame) { return .none }
    if !order.contains(awaited.frame) {
      // The requested frame never arrived, so show the last frame instead.
      pending?.frame = order.nearest(to: awaited.frame)
      fresh = .zero
    }
    return .restart
  }

  /// Continues with the next play if the last frame is on screen and the play count has risen. A GIF may store this
  /// number after its frames, and a chosen range may have been played by then.
  private mutating func playAgain() -> Action {
    guard pending == nil, !showsPoster, let shown, let next = order.next(after: shown) else {
      return .none
    }
    pending = next
    return state == .playing ? .restart : .none
  }

  /// Shows the frame at `time` as soon as that frame has arrived and is decoded.
  mutating func seek(to time: Duration) -> Action {
    if let (frame, offset) = order.position(at: time) { return seek(to: frame, offset: offset) }
    guard order.isOpen else { return .none }
    let action = seek(to: order.range.upperBound, offset: .zero)
    awaitedTime = time
    return action
  }

  private mutating func arrive(at time: Duration) -> Action {
    guard let (frame, offset) = order.position(at: time) else {
      pending?.frame = order.range.upperBound
      return .none
    }
    return seek(to: frame, offset: offset)
  }

  /// Continues with the step after the shown frame. If no frame has been shown, because playback begins at the end of
  /// the animation, continues with the first frame to show as soon as that frame is known.
  private mutating func goOn(at now: Duration) -> Action {
    guard let shown else {
      pending = order.knownFirst(direction).map { PlaybackStep(frame: $0, direction: direction) }
      return pending == nil ? .none : .restart
    }
    switch order.successor(of: shown) {
    case .unknown: return .none
    case .end: return .restart
    case .step(let next):
      pending = next
      let wait = (pausedAt ?? now) - moment(next.start)
      if wait > .zero {
        stalls += 1
        stallTime += wait
        if stallPolicy == .shift { anchor += wait }
      }
      return .restart
    }
  }

  /// Converts the start times of the steps to the timeline's new timescale. The conversion is exact if the new
  /// timescale is a multiple of the old one; otherwise, times are rounded down to nanoseconds, like those of the
  /// timeline itself.
  private mutating func rescaleSteps(from old: Int128) {
    let new = order.timeline.timescale
    guard new != old else { return }
    for path in [\PlaybackStateMachine.shown, \.pending] {
      if let start = self[keyPath: path]?.start { self[keyPath: path]?.start = start * new / old }
    }
  }
}
