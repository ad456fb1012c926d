import ZoetropeTerminal

/// The queries that the terminal has not answered yet.
///
/// An answer that arrives after the terminal was released would reach the shell as if it had been typed. Before the
/// player releases the terminal, it therefore waits a short time for outstanding answers.
///
/// The probe queries the terminal before playback. An answer to it can still reach the shell if playback ends before
/// the answer arrives, and the answer takes more than twice as long as the probe waited (at least 0.4 s; 2 s if the
/// probe waited a second). Waiting longer would delay every exit on the many terminals that never answer. A process
/// left behind to read the answer would also read what the user types to the shell.
struct AwaitedAnswers: Sendable {
  /// The time after which the answer to the last query of the probe is no longer awaited, or nil if no answer is
  /// awaited.
  var probeEnd: ContinuousClock.Instant?
  /// Whether the terminal has reported mouse events.
  var hasMouse = false
  /// A query follows each frame. This is the number of frames whose queries the terminal has not answered yet.
  var frameCount = 0

  /// The time that the terminal took to answer a query when no output was pending.
  var latency = Duration.zero

  /// The time to wait at the end of playback for the answers to the queries that follow frames. It is twice the
  /// latency, but at least 100 ms and at most 400 ms.
  ///
  /// The latency of the last answer is not a good measure. On a slow link, that answer was delayed by pictures, which
  /// are discarded at the end.
  private var patience: Duration {
    min(max(latency * 2, .milliseconds(100)), .milliseconds(400))
  }

  /// Returns the time at which to stop waiting for answers if waiting starts at `now`, or nil if no answer is awaited.
  func deadline(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    let probe = probeEnd.flatMap { $0 > now ? $0 : nil }
    let frames: ContinuousClock.Instant? = frameCount > 0 ? now + patience : nil
    return [probe, frames].compactMap { $0 }.max()
  }

  /// Records the answers and the mouse events among `events`.
  mutating func take(_ events: [InputEvent]) {
    for event in events {
      switch event {
      case .mouse: hasMouse = true
      case .reply(let reply) where reply.isAttributes: probeEnd = nil
      case .reply(.ready): frameCount = max(frameCount - 1, 0)
      default: break
      }
    }
  }
}
