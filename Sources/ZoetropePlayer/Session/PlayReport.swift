import SystemPackage
import Zoetrope
import ZoetropeProcess

/// Failures while playing, which are reported once the terminal is released.
struct PlayReport {
  private let inputCount: Int
  private var failures: [CommandFailure] = []
  /// The numbers of the inputs that failed; nil means the trace.
  private var failed: Set<Int?> = []
  /// Notes, which do not count as failures.
  private var notes: [String] = []
  /// How playing ended, unless it was with the last file.
  var ending: ExitStatus?

  init(_ inputCount: Int) { self.inputCount = inputCount }

  /// Adds a failure of input `number`; nil for one of the trace.
  mutating func add(_ failure: CommandFailure, of number: Int?) {
    failures.append(failure)
    failed.insert(number)
  }

  /// Records how a stream ended, unless its animation is complete.
  ///
  /// As with a file, truncation is reported but is not a failure.
  mutating func add(
    _ stream: StreamedImage, from input: InputFile, number: Int, damage: DamagePolicy
  ) {
    let progress = stream.progress
    guard let ending = progress.ending, ending != .complete, ending != .cancelled else { return }
    if let error = ending.error {
      let failure = CommandFailure(error, file: input.name, damage: damage)
      // If no frame arrived, playing has already failed with the same error.
      if !failures.contains(failure) { add(failure, of: number) }
    } else {
      notes.append(StreamWord.cut(progress, input: input))
    }
  }

  /// Writes the trace, even after a signal; `-` is standard output.
  mutating func write(trace: String, to name: String?, isReplacing: Bool) {
    guard let name else { return }
    let json = Array((trace + "\n").utf8)
    do throws(CommandFailure) {
      _ = try Delivery.of { () throws(WriteFailure) in
        try OutputFile.write(report: json, to: name, isReplacing: isReplacing)
      }
    } catch {
      add(error, of: nil)
    }
  }

  /// Reports the failures and returns the exit status.
  func finish() -> ExitStatus {
    for failure in failures { failure.report(asJSON: false) }
    for note in notes { FileDescriptor.note(note) }
    if let ending { return ending }
    if failures.isEmpty { return .success }
    // A file may fail more than once.
    return failed.count < inputCount ? .partial : .combined(failures.map(\.status))
  }
}
