import SystemPackage
import Zoetrope

/// What went wrong while files were played, told once the terminal is given back.
struct PlayReport {
  private let inputCount: Int
  private var failures: [CommandFailure] = []
  /// How everything ended, when it was not the end of the last file.
  var ending: ExitStatus?

  init(_ inputCount: Int) { self.inputCount = inputCount }

  mutating func add(_ failure: CommandFailure) { failures.append(failure) }

  /// Writes the trace, also after a signal; `-` is standard output.
  mutating func write(trace: String, to name: String?, isReplacing: Bool) {
    guard let name else { return }
    let json = Array((trace + "\n").utf8)
    do throws(WriteFailure) {
      if name == "-" {
        try FileDescriptor.standardOutput.writeFully(
          json, name: "standard output", stopsOnSignal: false)
      } else {
        try OutputFile.write(
          json, to: FilePath(bytes: RawArguments.bytes(of: name)), isReplacing: isReplacing,
          followsLinks: true, stopsOnSignal: false)
      }
    } catch {
      if let failure = error.commandFailure { add(failure) }
    }
  }

  /// Tells the failures and gives the exit status.
  func finish() -> ExitStatus {
    for failure in failures { CommandRunner.report(failure, asJSON: false) }
    if let ending { return ending }
    if failures.isEmpty { return .success }
    // A file that was played before it failed may have failed more than once.
    return Set(failures.map(\.file)).count < inputCount
      ? .partial : .combined(failures.map(\.status))
  }
}
