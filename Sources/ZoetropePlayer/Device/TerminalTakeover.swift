internal import Zoetrope
internal import ZoetropeProcess
package import ZoetropeTerminal

/// Takes the terminal over and releases it, as often as necessary.
package final class TerminalTakeover {
  let device: TerminalDevice
  let rawMode: RawMode
  private(set) var mode = TerminalMode()
  /// The bytes to write after those that restore the terminal: for an inline picture, they move the
  /// cursor below it.
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

  /// How long a terminal may take to answer; nil uses each query's default.
  ///
  /// Set in whole seconds by `ZOETROPE_TERMINAL_PATIENCE`, for terminals on a busy machine, as in tests.
  static let patience: Duration? = environmentVariable("ZOETROPE_TERMINAL_PATIENCE")
    .flatMap { Int($0) }.map { .seconds(min(max($0, 0), 3600)) }

  /// Probes the controlling terminal, wherever output goes; nil without a terminal.
  package static func probe() -> TerminalCapabilities? {
    let known = TerminalCapabilities(environment: .current)
    guard let device = TerminalDevice(controlling: true) else { return nil }
    // A dumb terminal would display the bytes that restore other terminals.
    if known.isDumb { return known }
    guard let terminal = TerminalTakeover(device) else { return nil }
    let probe = TerminalProbe(
      known, patience: patience,
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

  /// Releases the terminal; does nothing if it is released already. Output that it has not read is
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
  /// Reads queued input, because reports of a mouse that was just used would reach the shell.
  private func swallowMouse(_ decoder: inout InputDecoder) {
    for _ in 0..<16 {
      let readiness = device.wait(forInput: true, output: false, wakes: false, for: .zero)
      guard readiness.contains(.input), let bytes = device.read(), !bytes.isEmpty else { return }
      awaited.take(decoder.feed(bytes))
    }
  }
}
