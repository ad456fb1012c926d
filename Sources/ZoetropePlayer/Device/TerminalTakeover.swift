internal import Zoetrope
internal import ZoetropeProcess
package import ZoetropeTerminal

/// Takes the terminal over and releases it, as often as necessary.
package final class TerminalTakeover {
  let device: TerminalDevice
  let rawMode: RawMode
  private(set) var mode = TerminalMode()
  /// What follows the restoring bytes: for an inline picture, the move below it.
  private var epilogue: [UInt8] = []
  /// Queries that have not been answered.
  var awaited = AwaitedAnswers()

  /// Turns echo and line editing off, after preparing to restore them. Nil when the system refuses.
  init?(_ device: TerminalDevice) {
    guard let rawMode = RawMode(descriptor: device.descriptor) else { return nil }
    self.device = device
    self.rawMode = rawMode
    Signals.catchForTerminal()
    arm()
    guard rawMode.enter(descriptor: device.descriptor) else { return nil }
  }

  /// How long a terminal may take to answer; nil for the default time of each question. Whole seconds in
  /// `ZOETROPE_TERMINAL_PATIENCE`, for terminals that share a busy machine with others, as in tests.
  static let patience: Duration? = environmentVariable("ZOETROPE_TERMINAL_PATIENCE")
    .flatMap { Int($0) }.map { .seconds(min(max($0, 0), 3600)) }

  /// Probes the controlling terminal, wherever output goes; nil without a terminal.
  package static func probe() -> TerminalCapabilities? {
    guard let device = TerminalDevice(controlling: true), let terminal = TerminalTakeover(device)
    else { return nil }
    let probe = TerminalProbe(
      TerminalCapabilities(environment: .current), patience: patience,
      now: { ContinuousClock.now },
      write: { device.writeAll($0) }, read: { device.read(within: $0) })
    terminal.leave()
    Signals.endTerminal()
    return probe.capabilities
  }

  private func arm() {
    TerminalGuard.arm(
      restore: mode.restore + epilogue, rawMode: rawMode, descriptor: device.descriptor)
  }

  /// Sets the modes that playing needs.
  func enter(_ mode: TerminalMode, epilogue: [UInt8] = []) {
    self.mode = mode
    self.epilogue = epilogue
    enter()
  }

  /// Changes where the cursor is left at the end.
  func changeEpilogue(_ bytes: [UInt8]) {
    epilogue = bytes
    arm()
  }

  /// Sets the modes again, after ``leave(keepingOutput:)``.
  func enter() {
    arm()
    _ = rawMode.enter(descriptor: device.descriptor)
    device.writeAll(mode.enter)
  }

  /// Releases the terminal; has no effect when that has been done. Output that it has not read is
  /// discarded unless `keepingOutput`.
  func leave(keepingOutput: Bool = false) {
    TerminalGuard.restore(dropsOutput: !keepingOutput) { swallowAnswers() }
  }

  /// Reads answers that are in flight, so that the shell does not get them.
  private func swallowAnswers() {
    var decoder = InputDecoder()
    if mode.usesMouse, awaited.hasMouse { swallowMouse(&decoder) }
    guard let deadline = awaited.deadline(at: .now) else { return }
    while awaited.deadline(at: .now) != nil {
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else { return }
      let readiness = device.wait(forInput: true, output: false, for: left)
      if readiness.contains(.wake) { WakePipe.drain() }
      guard readiness.contains(.input) else { continue }
      guard let bytes = device.read() else { return }
      awaited.take(decoder.feed(bytes))
    }
  }
}

extension TerminalTakeover {
  /// Reads what is queued, since reports of a mouse that was just used would be typed to the shell.
  private func swallowMouse(_ decoder: inout InputDecoder) {
    for _ in 0..<16 {
      let readiness = device.wait(forInput: true, output: false, wakes: false, for: .zero)
      guard readiness.contains(.input), let bytes = device.read(), !bytes.isEmpty else { return }
      awaited.take(decoder.feed(bytes))
    }
  }
}

/// Queries that the terminal has not answered yet.
///
/// An answer that arrives after the terminal was released would reach the shell as if it had been
/// typed. So the end waits for answers in flight, but not for long.
///
/// An answer to the probe can therefore still reach the shell if it takes more than twice as long
/// as the probe waited (0.4 s, or 2 s where it waited a second) and playing ends before. Waiting
/// longer would delay every end on the many terminals that never answer, and a process left behind
/// to read the answer would also read what is typed to the shell.
struct AwaitedAnswers: Sendable {
  /// When the last query of the probe is given up; nil once it was answered.
  var probeEnd: ContinuousClock.Instant?
  /// Whether the mouse was used.
  var hasMouse = false
  /// Frames whose arrival was queried and not confirmed.
  var frameCount = 0

  /// How long the terminal took to answer on an idle link.
  var latency = Duration.zero

  /// How long the end may wait for the answers about frames: twice the latency.
  ///
  /// The latest answer is no measure: on a slow link it waited behind pictures, which the end
  /// discards.
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
      case .reply(.attributes): probeEnd = nil
      case .reply(.ready): frameCount = max(frameCount - 1, 0)
      default: break
      }
    }
  }
}
