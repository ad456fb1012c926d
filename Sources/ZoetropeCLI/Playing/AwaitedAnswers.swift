import ZoetropeTerminal

/// Questions that the terminal has not answered yet.
///
/// An answer that comes when the terminal has been given back would land in the shell's input as if
/// it had been typed. So the end waits for those that are on the way, but not for long: what a stuck
/// or silent terminal owes is given up.
struct AwaitedAnswers: Sendable {
  /// When the last question of the probe is no longer expected to be answered; nil once it was.
  var probeEnd: ContinuousClock.Instant?
  /// Frames whose arrival was asked for and not confirmed.
  var frameCount = 0

  /// How long the end may wait for the answers about frames.
  private static let patience = Duration.milliseconds(100)

  /// When waiting at `now` has no more point; nil when nothing is awaited.
  func deadline(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    let probe = probeEnd.flatMap { $0 > now ? $0 : nil }
    let frames: ContinuousClock.Instant? = frameCount > 0 ? now + Self.patience : nil
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
