extension PlaybackStateMachine {
  /// Time stands still; what is on screen stays. Before the first frame, that frame is still shown.
  mutating func pause(at now: Duration) -> Action {
    guard state != .paused else { return .none }
    state = .paused
    pausedAt = fresh == nil ? now : nil
    return .restart
  }

  /// Time goes on where it stood: every deadline moves by the length of the pause.
  mutating func resume(at now: Duration) -> Action {
    guard state == .paused else { return .none }
    state = .playing
    if let since = pausedAt {
      anchor += now - since
      shownAt += now - since
    }
    pausedAt = nil
    return .restart
  }

  /// Shows `frame` as soon as it is decoded, paused or not; the schedule starts anew from there.
  mutating func seek(to frame: Int, offset: Duration) -> Action {
    let play = (shown ?? pending)?.play ?? 0
    pending = PlaybackStep(frame: frame, play: play, direction: direction)
    // Backwards, the part of the frame's time that has passed is the part after the position.
    let whole = order.timeline.time(order.timeline.ticks(frame), at: PlaybackRate(1))
    fresh = offset == .zero || direction == .forward ? offset : whole - offset
    pausedAt = nil
    isChosen = false
    failure = nil
    return .restart
  }

  /// Changes speed without a jump: the position at `now` stays, what is left of it is scaled.
  mutating func setRate(_ newRate: PlaybackRate, at now: Duration) -> Action {
    guard newRate != rate else { return .none }
    if fresh == nil {
      let moment = pausedAt ?? now
      let elapsed = (moment - anchor).scaled(
        by: rate.numerator * newRate.denominator, over: rate.denominator * newRate.numerator)
      anchor = moment - elapsed
    }
    rate = newRate
    return state == .playing ? .restart : .none
  }

  /// Turns round without a jump: the shown frame stays for as long as it was already shown.
  mutating func setDirection(_ newDirection: PlaybackDirection, at now: Duration) -> Action {
    guard newDirection != direction else { return .none }
    direction = newDirection
    isChosen = false
    failure = nil
    if fresh != nil || shown == nil {
      // Before anything was shown, playback begins at the other end.
      if shown == nil, pending?.frame == order.first(newDirection.reversed) {
        pending?.frame = order.first(newDirection)
      }
      pending?.direction = newDirection
      return state == .idle ? .none : .restart
    }
    guard var step = shown else { return .none }
    let moment = pausedAt ?? now
    let start = self.moment(step.start)
    let whole = duration(of: step)
    let elapsed = min(max(moment - start, .zero), whole)
    anchor += moment - (whole - elapsed) - start
    step.direction = newDirection
    shown = step
    pending = order.next(after: step)
    return state == .playing ? .restart : .none
  }
}
