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
    fresh = offset
    beginsAtEnd = false
    pausedAt = nil
    isChosen = false
    failure = nil
    return .restart
  }

  /// Changes speed without a jump: the position at `now` stays, what is left of it is scaled.
  ///
  /// A step that is overdue keeps its deadline. To scale the time since would move it into the past,
  /// before those of the frames that were shown.
  mutating func setRate(_ newRate: PlaybackRate, at now: Duration) -> Action {
    guard newRate != rate else { return .none }
    let scaled = { [rate] (time: Duration) in
      time.scaled(
        by: rate.numerator * newRate.denominator, over: rate.denominator * newRate.numerator)
    }
    if fresh == nil {
      let moment = pausedAt ?? now
      passOverOvertaken(at: moment)
      let next = pending?.start ?? shown.map { order.end(of: $0) } ?? 0
      let rest = self.moment(next) - moment
      anchor =
        moment + (rest > .zero ? scaled(rest) : rest) - order.timeline.time(next, at: newRate)
      shownAt = moment - scaled(moment - shownAt)
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
      if beginsAtEnd { pending?.frame = order.first(newDirection) }
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
