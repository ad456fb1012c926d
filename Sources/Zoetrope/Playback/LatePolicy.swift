/// What happens when a frame is not ready at its deadline.
///
/// A frame is late when its decoding, or with ``FrameBuffering/lossless`` its consumer, takes longer
/// than the time there was. Waking up a fraction of a millisecond after a deadline is no lateness in
/// this sense: no policy lets such delays add up.
public enum LatePolicy: Sendable, Hashable {
  /// Shows the frame that is due and counts the ones passed over; the schedule stays. The default.
  ///
  /// A frame whose time is not over is shown late instead of skipped. When even the frame that was
  /// due has been overtaken while it was decoded, it is shown: a slow machine sees fewer frames,
  /// never none.
  case skip
  /// Shows every frame for its full time and shifts the schedule by the lateness.
  case stretch
  /// Shows the newest frame that is due *and decoded*; the schedule stays.
  ///
  /// Unlike ``skip`` it never leaves a decoded frame for one that is yet to be decoded.
  case latest
  /// Shows every frame, up to `maximumRate` times as fast as playback runs, until it has caught up.
  ///
  /// The schedule stays while it is at most ten seconds ahead. What a longer stall lasted beyond that,
  /// as of a machine that slept, is not made up for: the schedule moves by it. Values below 1, and
  /// values that are not a number, act as 1; those above 1000 as 1000.
  case catchUp(maximumRate: Double)

  /// What ``catchUp(maximumRate:)`` makes up for at most.
  static let maximumDebt = Duration.seconds(10)
}

extension LatePolicy: CustomStringConvertible {
  /// The name by which the command line knows the policy: `skip`, `stretch`, `latest`, `catchup`.
  public var description: String {
    switch self {
    case .skip: "skip"
    case .stretch: "stretch"
    case .latest: "latest"
    case .catchUp: "catchup"
    }
  }
}
