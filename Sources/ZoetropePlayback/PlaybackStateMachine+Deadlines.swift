extension PlaybackStateMachine {
  /// Returns the moment at which `ticks` have passed, which is the deadline of a step that starts at this tick.
  func moment(_ ticks: Int128) -> Duration {
    min(anchor + order.timeline.time(ticks, at: rate), Self.endOfTime)
  }

  /// Returns how long a step lasts on the clock. Computed as the difference of two moments, so that durations add up to
  /// deadlines.
  func duration(of step: PlaybackStep) -> Duration {
    moment(order.end(of: step)) - moment(step.start)
  }

  /// The moment from which the next frame, or the end, may follow the shown frame.
  var endOfShown: Duration {
    guard let shown else { return anchor }
    return max(moment(order.end(of: shown)), earliestNext)
  }

  /// The moment from which the next frame may be shown while catching up.
  var earliestNext: Duration {
    guard case .catchUp(let maximum) = latePolicy.kind, let shown else { return anchor }
    return shownAt + PlaybackRate(maximum > 1 ? maximum : 1).wallTime(duration(of: shown))
  }
}
