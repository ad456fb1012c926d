extension PlaybackStateMachine {
  /// The moment at which `ticks` have passed: the deadline of a step that starts there.
  func moment(_ ticks: Int128) -> Duration {
    min(anchor + order.timeline.time(ticks, at: rate), Self.endOfTime)
  }

  /// How long a step lasts on the clock. The difference of two moments, so that durations add up to
  /// deadlines.
  func duration(of step: PlaybackStep) -> Duration {
    moment(order.end(of: step)) - moment(step.start)
  }

  /// When the shown frame may be followed by the next, or by the end.
  var endOfShown: Duration {
    guard let shown else { return anchor }
    return max(moment(order.end(of: shown)), earliestNext)
  }

  /// When the next frame may be shown while catching up.
  var earliestNext: Duration {
    guard case .catchUp(let maximum) = latePolicy.kind, let shown else { return anchor }
    return shownAt + PlaybackRate(maximum > 1 ? maximum : 1).wallTime(duration(of: shown))
  }
}
