import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The failures that occurred during playback. They are reported once the terminal is released.
struct PlayReport {
  private let inputCount: Int
  private var failures: [CommandFailure] = []
  /// The numbers of the inputs that failed. The set contains nil if the trace could not be written.
  private var failed: Set<Int?> = []
  /// Notes to report, which do not count as failures.
  private var notes: [String] = []
  /// The exit status with which a signal, a key or the loss of the terminal ended playback, or nil if playback ended in
  /// another way.
  var ending: ExitStatus?

  init(_ inputCount: Int) { self.inputCount = inputCount }

  /// Adds a failure. `number` is the number of the input that failed, or nil if writing the trace failed.
  mutating func add(_ failure: CommandFailure, of number: Int?) {
    failures.append(failure)
    failed.insert(number)
  }

  /// Records the way in which a stream ended, unless its animation is complete.
  ///
  /// Truncation is reported but does not count as a failure. The same applies to files.
  mutating func add(
    _ stream: StreamedImage, from input: InputFile, number: Int, damage: DamagePolicy
  ) {
    let progress = stream.progress
    guard let ending = progress.ending, ending != .complete, ending != .cancelled else { return }
    if let error = ending.error {
      let failure = CommandFailure(error, file: input.name, damage: damage)
      // If no frame arrived, playback has already failed with the same error.
      if !failures.contains(failure) { add(failure, of: number) }
    } else {
      notes.append(StreamWord.cut(progress, input: input))
    }
  }

  /// Writes the trace to the file `name`, even after a signal. The name `-` means standard output.
  mutating func write(trace: String, to name: String?, isReplacing: Bool) {
    guard let name else { return }
    do throws(CommandFailure) {
      try OutputFile.write(report: trace + "\n", to: name, isReplacing: isReplacing)
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
    // The number of failures does not matter, because one file may fail more than once.
    return failed.count < inputCount ? .partial : .combined(failures.map(\.status))
  }
}
