import SystemPackage
import Zoetrope

/// What all commands do with results and failures.
enum CommandRunner {
  /// Reports `failure` on standard error, as text or as JSON.
  static func report(_ failure: CommandFailure, asJSON: Bool) {
    if asJSON {
      FileDescriptor.note(String(decoding: failure.json, as: UTF8.self))
    } else {
      FileDescriptor.note("zoetrope: \(failure.line)\n")
    }
  }

  /// Writes `bytes` to standard output; a closed pipe is a quiet success.
  ///
  /// - Parameter stopsOnSignal: Whether a signal ends it; false for what is told because of one.
  static func print(_ bytes: [UInt8], stopsOnSignal: Bool = true) throws(CommandFailure) {
    do throws(WriteFailure) {
      try FileDescriptor.standardOutput.writeFully(
        bytes, name: "standard output", stopsOnSignal: stopsOnSignal)
    } catch {
      if let failure = error.commandFailure { throw failure }
      throw CommandFailure(.success, code: "closedPipe", "")
    }
  }
}
