extension PlaybackStateMachine {
  /// What to do with ``pending``, which is decoded (or has failed) and is free to be shown.
  mutating func decide(at now: Duration, ahead: Int, wasWaiting: Bool) -> Action {
    guard let step = pending else {
      return now < endOfShown ? .wait(until: endOfShown) : end(.finished)
    }
    if let offset = fresh {
      if let failure { return end(.failed(failure)) }
      anchor = now - order.timeline.time(step.start, at: rate) - rate.wallTime(offset)
      fresh = nil
      return present(step, due: now, at: now, entry: now)
    }
    let deadline = moment(step.start)
    let due = max(deadline, earliestNext)
    if now < due { return .wait(until: due) }
    if let failure { return end(.failed(failure)) }

    switch latePolicy {
    case .skip where !isChosen:
      let choice = stepDue(at: now, from: step)
      if choice.skipped > 0 { return choose(choice) }
    case .latest where !isChosen && ahead > 0:
      let choice = newestDue(at: now, from: step, ahead: ahead)
      if choice.skipped > 0 { return choose(choice) }
    case .stretch where now > deadline && (!wasWaiting || now >= moment(order.end(of: step))):
      // A wake-up that is merely imprecise moves nothing: its error would add up frame by frame.
      let lateness = now - deadline
      anchor += lateness
      return present(step, due: now, at: now, lateness: lateness)
    default: break
    }
    return present(step, due: deadline, at: now)
  }

  /// The action that gets ``pending``; under `skip`, steps already overtaken are not even decoded.
  mutating func fetchDue(at now: Duration) -> Action {
    guard let step = pending else { return .wait(until: endOfShown) }
    if latePolicy == .skip, !isChosen {
      let choice = stepDue(at: now, from: step)
      if choice.skipped > 0 { return choose(choice) }
    }
    return .fetch(step)
  }

  private mutating func choose(_ choice: (step: PlaybackStep, skipped: Int)) -> Action {
    pending = choice.step
    skipped += choice.skipped
    isChosen = true
    failure = nil
    return .fetch(choice.step)
  }

  private mutating func present(
    _ step: PlaybackStep, due: Duration, at now: Duration, lateness: Duration? = nil,
    entry: Duration? = nil
  ) -> Action {
    let next = showsPoster ? nil : order.next(after: step)
    let presentation = Presentation(
      step: step, deadline: due,
      duration: entry.map { moment(order.end(of: step)) - $0 } ?? duration(of: step),
      lateness: lateness ?? now - due, skipped: skipped, isLast: next == nil)
    shown = step
    shownAt = now
    pending = next
    direction = step.direction
    skipped = 0
    isChosen = false
    return .present(presentation)
  }

  /// The step whose time it is, at or after `step`, and how many were passed to get there.
  ///
  /// Steps without a duration belong to the step with one that follows: they are overtaken together,
  /// never merely because no time is left between them. The last step of all is always due.
  private func stepDue(
    at now: Duration, from step: PlaybackStep
  ) -> (step: PlaybackStep, skipped: Int) {
    var step = step
    var skipped = 0
    guard now >= moment(order.end(of: step)) else { return (step, 0) }
    if let cycle = order.cycle(of: step) {
      // Long stalls are jumped by whole cycles. One less than the quotient says, for it is rounded.
      let late = now - moment(step.start)
      let cycles = Int((late / order.timeline.time(cycle.ticks, at: rate)).rounded(.down)) - 1
      let jumps = min(cycles, order.playsLeft(after: step) / cycle.plays)
      if jumps > 0 {
        step.play += jumps * cycle.plays
        step.start += Int128(jumps) * cycle.ticks
        skipped += jumps * stepsPerCycle
      }
    }
    var choice = (step: step, skipped: skipped)
    var passesInstants = 0
    while now >= moment(order.end(of: step)), let next = order.next(after: step) {
      // Nothing but steps without duration: no time will ever pass here.
      if order.end(of: step) == step.start {
        passesInstants += 1
        if passesInstants > order.range.count { break }
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

  private var stepsPerCycle: Int {
    order.bounces ? 2 * (order.range.count - 1) : order.range.count
  }

  /// The last step that is due among `step` and the `ahead` ones after it, all of them decoded.
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
