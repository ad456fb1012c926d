import Glibc
import SystemPackage
import ZoetropeTerminal

/// Takes the terminal over and gives it back, as often as it is needed.
final class TerminalTakeover {
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
    WakePipe.install()
    arm()
    guard rawMode.enter(descriptor: device.descriptor) else { return nil }
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
      if readiness.contains(.wake) { WakePipe.drain() }
      guard readiness.contains(.input) else { continue }
      guard let bytes = device.read() else { return }
      awaited.take(decoder.feed(bytes))
    }
  }

  /// Stops this process, and those it shares a pipeline with, until they are continued.
  ///
  /// In an orphaned group, which nobody could continue, the system does nothing here.
  func stopProcess() {
    signal(SIGTSTP, SIG_DFL)
    kill(0, SIGTSTP)
    WakePipe.catchSignal(SIGTSTP)
    // That it was continued is what the caller acts on; it need not be told again.
    WakePipe.forget([SIGTSTP, SIGCONT])
  }
}
