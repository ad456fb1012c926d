extension PlaybackStateMachine {
  /// Returns the moment of tick `ticks`, counted from ``anchor``. This moment is the deadline of a step that starts at
  /// this tick.
  func moment(_ ticks: Int128) -> Duration {
    min(anchor + order.timeline.time(ticks, at: rate), Self.endOfTime)
  }

  /// Returns how long `step` lasts on the clock. The result is the difference of two moments, so that the durations of
  /// successive steps add up exactly to the time between their deadlines.
  func duration(of step: PlaybackStep) -> Duration {
    moment(order.end(of: step)) - moment(step.start)
  }

  /// The moment from which the next frame may replace the shown frame, or playback may end.
  var endOfShown: Duration {
    guard let shown else { return anchor }
    return max(moment(order.end(of: shown)), earliestNext)
  }

  /// The moment from which the next frame may be shown without exceeding the maximum rate of
  /// ``LatePolicy/catchUp(maximumRate:)``. Other policies have no such limit.
  var earliestNext: Duration {
    guard case .catchUp(let maximum) = latePolicy.kind, let shown else { return anchor }
    return shownAt + PlaybackRate(maximum > 1 ? maximum : 1).wallTime(duration(of: shown))
  }
}
