import ZoetropeTerminal

/// Queries that the terminal has not answered yet.
///
/// An answer that arrives after the terminal was released would reach the shell as if it had been typed. Playback
/// therefore waits for answers in flight before it ends, but not for long.
///
/// An answer to the probe can still reach the shell if it takes more than twice as long as the probe waited (0.4 s, or
/// 2 s if it waited a second) and playback ends before that. Waiting longer would delay every exit on the many
/// terminals that never answer, and a process left behind to read the answer would also read what is typed to the
/// shell.
struct AwaitedAnswers: Sendable {
  /// When to give up waiting for the last query of the probe; nil once it was answered.
  var probeEnd: ContinuousClock.Instant?
  /// Whether the mouse was used.
  var hasMouse = false
  /// Frames that were followed by a query the terminal has not answered yet.
  var frameCount = 0

  /// How long the terminal took to answer on an idle link.
  var latency = Duration.zero

  /// How long to wait at the end for the answers about frames: twice the latency.
  ///
  /// The latest answer is not a good measure: on a slow link it waited behind pictures, which are discarded at the end.
  private var patience: Duration {
    min(max(latency * 2, .milliseconds(100)), .milliseconds(400))
  }

  /// When waiting ends if it starts at `now`; nil when nothing is awaited.
  func deadline(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    let probe = probeEnd.flatMap { $0 > now ? $0 : nil }
    let frames: ContinuousClock.Instant? = frameCount > 0 ? now + patience : nil
    return [probe, frames].compactMap { $0 }.max()
  }

  /// Records answers among `events`.
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
