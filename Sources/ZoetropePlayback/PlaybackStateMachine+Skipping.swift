extension PlaybackStateMachine {
  /// Returns what to do with ``pending``, whose frame is decoded or has failed to decode.
  mutating func decide(at now: Duration, ahead: Int, wasWaiting: Bool) -> Action {
    if isStarved { return .suspend }
    guard let step = pending else {
      return now < endOfShown ? .wait(until: endOfShown) : end(.finished)
    }
    if let offset = fresh {
      if let failure { return end(.failed(failure)) }
      // When playing backward, the part of the frame after the position has already passed.
      let whole = order.timeline.time(order.timeline.ticks(step.frame), at: PlaybackRate(1))
      let passed = offset == .zero || step.direction == .forward ? offset : whole - offset
      anchor = now - order.timeline.time(step.start, at: rate) - rate.wallTime(passed)
      fresh = nil
      return present(step, due: now, at: now, entry: now)
    }
    let deadline = moment(step.start)
    let due = max(deadline, earliestNext)
    if now < due { return .wait(until: due) }
    if let failure { return end(.failed(failure)) }

    switch latePolicy.kind {
    case .skip where !isChosen, .latest where !isChosen && ahead == .max:
      let choice = stepDue(at: now, from: step)
      if choice.skipped > 0 { return choose(choice) }
    case .latest where !isChosen && ahead > 0:
      let choice = newestDue(at: now, from: step, ahead: ahead)
      if choice.skipped > 0 { return choose(choice) }
    case .stretch where now > deadline && (!wasWaiting || now >= moment(order.end(of: step))):
      // The condition above excludes lateness from an imprecise wake-up. Such errors must not shift the schedule,
      // because they would add up.
      anchor += now - deadline
    case .catchUp where now - deadline > LatePolicy.maximumDebt:
      anchor += now - deadline - LatePolicy.maximumDebt
    default: break
    }
    return present(step, due: deadline, at: now)
  }

  /// Returns the action that requests the frame of ``pending``. Under ``LatePolicy/skip``, first skips steps whose time
  /// is over, so that their frames are not even decoded.
  mutating func fetchDue(at now: Duration) -> Action {
    passOverOvertaken(at: now)
    guard let step = pending else { return .wait(until: endOfShown) }
    return .fetch(step)
  }

  /// Under ``LatePolicy/skip``, replaces the pending step with the step that is due, unless the pending step was itself
  /// chosen by skipping.
  mutating func passOverOvertaken(at now: Duration) {
    guard latePolicy == .skip, !isChosen, let step = pending else { return }
    let choice = stepDue(at: now, from: step)
    if choice.skipped > 0 { _ = choose(choice) }
  }

  private mutating func choose(_ choice: (step: PlaybackStep, skipped: Int)) -> Action {
    pending = choice.step
    skipped += choice.skipped
    isChosen = true
    failure = nil
    return .fetch(choice.step)
  }

  /// Returns the action that presents `step`, and makes the next step pending.
  ///
  /// - Parameter entry: The moment at which a new schedule starts. The schedule may start in the middle of `step`; the
  ///   frame is then shown for the rest of the step's time. Default: nil, which continues the current schedule.
  private mutating func present(
    _ step: PlaybackStep, due: Duration, at now: Duration, entry: Duration? = nil
  ) -> Action {
    let successor = showsPoster ? .end : order.successor(of: step)
    let presentation = Presentation(
      step: step, deadline: due,
      duration: entry.map { moment(order.end(of: step)) - $0 } ?? duration(of: step),
      lateness: now - due, skipped: skipped, isLast: successor == .end)
    shown = step
    shownAt = entry == nil ? now : moment(step.start)
    pending = if case .step(let next) = successor { next } else { nil }
    direction = step.direction
    skipped = 0
    isChosen = false
    return .present(presentation, then: afterPresenting(at: now))
  }

  private mutating func afterPresenting(at now: Duration) -> Action {
    if showsPoster { return end(.finished) }
    if state == .paused {
      pausedAt = now
      return .suspend
    }
    if isStarved { return .suspend }
    return pending == nil ? .wait(until: endOfShown) : fetchDue(at: now)
  }

  /// Returns the step that is due, which is `step` or a later one, and the number of steps skipped.
  ///
  /// Steps without duration are skipped only together with the next step that has a duration. The last step of the last
  /// play stays due after its time is over.
  private func stepDue(
    at now: Duration, from step: PlaybackStep
  ) -> (step: PlaybackStep, skipped: Int) {
    var choice = (step: step, skipped: 0)
    var step = step
    var skipped = 0
    var hasJumped = false
    var passesInstants = 0
    while true {
      let end = moment(order.end(of: step))
      guard now >= end else { break }
      if !hasJumped, let cycle = order.cycle(of: step) {
        hasJumped = true
        skipped += jump(over: cycle, from: &step, at: now)
        if skipped > choice.skipped { choice = (step, skipped) }
      }
      guard let next = order.next(after: step) else { break }
      // In a loop of steps without duration, time never advances. Time does not advance after ``endOfTime`` either. If
      // playback bounces, a cycle has more steps than there are frames.
      if order.end(of: step) == step.start || end == Self.endOfTime {
        passesInstants += 1
        if passesInstants > stepsPerCycle { break }
      } else {
        passesInstants = 0
      }
      skipped += 1
      let hadDuration = order.end(of: step) > step.start
      step = next
      if hadDuration { choice = (step, skipped) }
    }
    return choice
  }

  /// Advances `step`, whose time is over, by whole cycles until it is one or two cycles before `now`, and returns the
  /// number of steps skipped. Going through a long stall step by step would take too long.
  private func jump(
    over cycle: (plays: Int, ticks: Int128), from step: inout PlaybackStep, at now: Duration
  ) -> Int {
    let late = (now - moment(step.start)).scaled(by: rate.numerator, over: rate.denominator)
    // Subtract one from the quotient, because times are rounded down.
    let cycles = order.timeline.ticks(at: late) / cycle.ticks - 1
    let most = order.playsLeft(after: step).map { Int128($0 / cycle.plays) }
    let jumps = min(cycles, most ?? cycles)
    guard jumps > 0 else { return 0 }
    step.start += jumps * cycle.ticks
    // The counts are clamped, because they would overflow if a clock were set forward by an enormous time.
    step.play = Int(min(Int128(step.play) + jumps * Int128(cycle.plays), 1 << 60))
    return Int(min(jumps * Int128(stepsPerCycle), 1 << 48))
  }

  private var stepsPerCycle: Int {
    order.bounces ? 2 * (order.range.count - 1) : order.range.count
  }

  /// Returns the last step that is due, and the number of steps skipped. Only `step` and the next `ahead` steps are
  /// considered, because their frames are decoded.
  private func newestDue(
    at now: Duration, from step: PlaybackStep, ahead: Int
  ) -> (step: PlaybackStep, skipped: Int) {
    var choice = (step: step, skipped: 0)
    while choice.skipped < ahead, let next = order.next(after: choice.step),
      moment(next.start) <= now, next.start > choice.step.start
    {
      choice = (next, choice.skipped + 1)
    }
    return choice
  }
}
