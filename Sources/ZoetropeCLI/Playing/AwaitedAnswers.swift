import ZoetropeTerminal

/// Questions that the terminal has not answered yet.
///
/// An answer that comes when the terminal has been given back would land in the shell's input as if
/// it had been typed. So the end waits for those that are on the way, but not for long: what a stuck
/// or silent terminal owes is given up.
///
/// So an answer to the probe still gets through to the shell when it takes more than twice as long
/// as the probe waited (0.4 s, or 2 s of a second) and playing ends before it. Nothing bounds that
/// better: of a terminal that has said nothing, nobody knows whether and when it will, and one that
/// never does is the common case, whose user would wait for nothing at every end. A process that
/// stays behind to read the answer would read what is typed to the shell.
struct AwaitedAnswers: Sendable {
  /// When the last question of the probe is no longer expected to be answered; nil once it was.
  var probeEnd: ContinuousClock.Instant?
  /// Frames whose arrival was asked for and not confirmed.
  var frameCount = 0

  /// How long the terminal took to answer when nothing was in the way of the answer.
  var latency = Duration.zero

  /// How long the end may wait for the answers about frames: twice what one takes.
  ///
  /// Not what the latest took: on a slow link those wait behind pictures, which the end drops.
  private var patience: Duration {
    min(max(latency * 2, .milliseconds(100)), .milliseconds(400))
  }

  /// When waiting at `now` has no more point; nil when nothing is awaited.
  func deadline(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    let probe = probeEnd.flatMap { $0 > now ? $0 : nil }
    let frames: ContinuousClock.Instant? = frameCount > 0 ? now + patience : nil
    return [probe, frames].compactMap { $0 }.max()
  }

  /// Notes what came in.
  mutating func take(_ events: [InputEvent]) {
    for case .reply(let reply) in events {
      switch reply {
      case .attributes: probeEnd = nil
      case .ready: frameCount = max(frameCount - 1, 0)
      default: break
      }
    }
  }
}
