internal import ZoetropeProcess
package import ZoetropeTerminal

/// Takes the terminal over and gives it back, as often as it is needed.
package final class TerminalTakeover {
  let device: TerminalDevice
  let rawMode: RawMode
  private(set) var mode = TerminalMode()
  /// What follows the restoring bytes: for a picture in the text, the way below it.
  private var epilogue: [UInt8] = []
  /// What the terminal has been asked and has not answered.
  var awaited = AwaitedAnswers()

  /// Turns echo and line editing off; from here on the end is prepared. Nil when that is refused.
  init?(_ device: TerminalDevice) {
    guard let rawMode = RawMode(descriptor: device.descriptor) else { return nil }
    self.device = device
    self.rawMode = rawMode
    Signals.catchForTerminal()
    arm()
    guard rawMode.enter(descriptor: device.descriptor) else { return nil }
  }

  /// What the controlling terminal answers when it is asked what it can show, wherever output goes;
  /// nil when there is no terminal.
  package static func probe() -> TerminalCapabilities? {
    guard let device = TerminalDevice(controlling: true), let terminal = TerminalTakeover(device)
    else { return nil }
    let probe = TerminalProbe(
      TerminalCapabilities(environment: .current), now: { ContinuousClock.now },
      write: { device.writeAll($0) }, read: { device.read(within: $0) })
    terminal.leave()
    Signals.catchEndings()
    return probe.capabilities
  }

  private func arm() {
    TerminalGuard.arm(
      restore: mode.restore + epilogue, rawMode: rawMode, descriptor: device.descriptor)
  }

  /// Switches the modes on that playing needs.
  func enter(_ mode: TerminalMode, epilogue: [UInt8] = []) {
    self.mode = mode
    self.epilogue = epilogue
    enter()
  }

  /// What the cursor is to be left at the end by, now that it is to stand elsewhere.
  func changeEpilogue(_ bytes: [UInt8]) {
    epilogue = bytes
    arm()
  }

  /// As before ``leave()``.
  func enter() {
    arm()
    _ = rawMode.enter(descriptor: device.descriptor)
    device.writeAll(mode.enter)
  }

  /// Gives the terminal back; harmless when that was done. Output that it has not taken is dropped
  /// unless it is `keepingOutput`.
  func leave(keepingOutput: Bool = false) {
    TerminalGuard.restore(dropsOutput: !keepingOutput) { swallowAnswers() }
  }

  /// Reads the answers that are on the way, so that the shell does not.
  private func swallowAnswers() {
    var decoder = InputDecoder()
    guard let deadline = awaited.deadline(at: .now) else { return }
    while awaited.deadline(at: .now) != nil {
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else { return }
      let readiness = device.wait(forInput: true, output: false, for: left)
      if readiness.contains(.wake) { Signals.drain() }
      guard readiness.contains(.input) else { continue }
      guard let bytes = device.read() else { return }
      awaited.take(decoder.feed(bytes))
    }
  }
}

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
