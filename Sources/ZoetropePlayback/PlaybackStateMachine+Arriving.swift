/// Playback of a stream whose frames have not all arrived.
///
/// While the next frame is missing, the machine suspends with the current frame on screen. It decides again when more
/// frames have arrived.
extension PlaybackStateMachine {
  /// Whether playback is stalled because a frame has not arrived.
  var isStarved: Bool {
    guard !state.isEnded else { return false }
    if let pending { return !order.contains(pending.frame) }
    guard order.isOpen else { return false }
    return shown.map { order.successor(of: $0) == .unknown } ?? true
  }

  /// Whether the next frame, or the requested time, has not arrived.
  var isPendingAwaited: Bool {
    awaitedTime != nil || pending.map { !order.contains($0.frame) } ?? false
  }

  /// Adds frames that have arrived, and continues if playback was waiting for them.
  mutating func arrive(_ arrival: FrameArrival, at now: Duration) -> Action {
    let wasStarved = isStarved
    let timescale = order.timeline.timescale
    order.extend(
      by: arrival.frames, playCount: hasOwnPlayCount ? nil : arrival.playCount,
      isOpen: arrival.isOpen)
    rescaleSteps(from: timescale)
    guard wasStarved else { return .none }
    if order.range.isEmpty, !order.isOpen {
      let error = arrival.error ?? AnimatedImageError(.noFrames, "no frame to play has arrived")
      return end(.failed(error))
    }
    if let time = awaitedTime { return arrive(at: time) }
    guard let awaited = pending else { return goOn(at: now) }
    if order.isOpen, !order.contains(awaited.frame) { return .none }
    if !order.contains(awaited.frame) {
      // The requested frame never arrived, so use the last one.
      pending?.frame = order.nearest(to: awaited.frame)
      fresh = .zero
    }
    return .restart
  }

  /// Shows the frame at `time` as soon as it has arrived.
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

  /// Continues after the shown frame, or at the end of the animation if playback begins there.
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

  /// Converts the steps to the timeline's new timescale: exactly if it is a multiple of the old one, otherwise rounded
  /// down to nanoseconds, like the timeline itself.
  private mutating func rescaleSteps(from old: Int128) {
    let new = order.timeline.timescale
    guard new != old else { return }
    for path in [\PlaybackStateMachine.shown, \.pending] {
      if let start = self[keyPath: path]?.start { self[keyPath: path]?.start = start * new / old }
    }
  }
}
