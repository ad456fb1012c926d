internal import Glibc
internal import Zoetrope
internal import ZoetropeProcess
package import ZoetropeTerminal

/// Takes over the terminal and releases it, as often as needed.
package final class TerminalTakeover {
  let device: TerminalDevice
  let rawMode: RawMode
  private(set) var mode = TerminalMode()
  /// The bytes to write after the bytes that restore the terminal. For an inline picture, they move the cursor below
  /// the picture.
  private var epilogue: [UInt8] = []
  /// The queries that the terminal has not answered yet.
  var awaited = AwaitedAnswers()

  /// Prepares to restore the terminal, and then turns off echo and line editing. Returns nil if the system does not
  /// allow that.
  init?(_ device: TerminalDevice) {
    guard let rawMode = RawMode(descriptor: device.descriptor) else { return nil }
    self.device = device
    self.rawMode = rawMode
    Signals.catchForTerminal()
    arm()
    guard rawMode.enter(descriptor: device.descriptor) else { return nil }
  }

  /// The time that a terminal may take to answer a query, or nil to use the default of each query.
  ///
  /// The environment variable `ZOETROPE_TERMINAL_PATIENCE` sets the time in whole seconds. It is meant for terminals on
  /// a busy machine, for example in tests.
  static let patience: Duration? = environmentVariable("ZOETROPE_TERMINAL_PATIENCE")
    .flatMap { Int($0) }.map { .seconds(min(max($0, 0), 3600)) }

  /// Queries the terminal to which standard output goes or, if it does not go to a terminal, the controlling terminal.
  /// Returns nil if there is no terminal, or if the system does not allow its settings to be changed.
  package static func probe() -> TerminalCapabilities? {
    let known = TerminalCapabilities(environment: .current)
    guard let device = TerminalDevice(controlling: true) else { return nil }
    // A dumb terminal is not queried, because it would display the bytes that restore other terminals.
    if known.isDumb { return known }
    guard let terminal = TerminalTakeover(device) else { return nil }
    let probe = TerminalProbe(
      known, patience: patience,
      now: { ContinuousClock.now },
      write: { device.writeAll($0) }, read: { device.read(within: $0) })
    terminal.leave()
    Signals.endTerminal()
    // While the terminal was being queried, these keys did not send their signals.
    let signals: [(Character, Int32)] = [("c", SIGINT), ("\\", SIGQUIT)]
    for (key, number) in signals
    where probe.typed.contains(.key(KeyEvent(.character(key), .control))) {
      raise(number)
    }
    return probe.capabilities
  }

  private func arm() {
    TerminalGuard.arm(
      restore: mode.restore + epilogue, rawMode: rawMode, descriptor: device.descriptor)
  }

  /// Sets the modes that playback needs.
  func enter(_ mode: TerminalMode, epilogue: [UInt8] = []) {
    self.mode = mode
    self.epilogue = epilogue
    enter()
  }

  /// Changes the bytes that move the cursor to its final position.
  func changeEpilogue(_ bytes: [UInt8]) {
    epilogue = bytes
    arm()
  }

  /// Sets the terminal's modes again, after a call of ``leave(keepingOutput:)``.
  func enter() {
    arm()
    _ = rawMode.enter(descriptor: device.descriptor)
    device.writeAll(mode.enter)
  }

  /// Releases the terminal, or does nothing if the terminal is already released. Output that the terminal has not read
  /// yet is discarded unless `keepingOutput` is true.
  func leave(keepingOutput: Bool = false) {
    TerminalGuard.restore(dropsOutput: !keepingOutput) { swallowAnswers() }
  }

  /// Reads the answers that are still outstanding, so that they do not reach the shell.
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
  /// Reads queued input. Otherwise the reports of a mouse that was just used would reach the shell.
  private func swallowMouse(_ decoder: inout InputDecoder) {
    for _ in 0..<16 {
      let readiness = device.wait(forInput: true, output: false, wakes: false, for: .zero)
      guard readiness.contains(.input), let bytes = device.read(), !bytes.isEmpty else { return }
      awaited.take(decoder.feed(bytes))
    }
  }
}
