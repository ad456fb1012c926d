import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The files to play, and the current one.
///
/// A file that cannot be opened is reported once and skipped from then on.
struct Playlist {
  private let inputs: [InputFile]
  private let options: DecodingOptions
  private let store: FrameStore?
  private var index = 0
  private var unusable: Set<Int> = []
  /// Files that were left while they were being opened.
  private var openings: [Int: InputOpening] = [:]
  /// Images from standard input and pipes, which can be read only once.
  private var kept: [Int: AnimatedImage] = [:]
  var report: PlayReport

  init(_ inputs: [InputFile], options: DecodingOptions, store: FrameStore?) {
    self.inputs = inputs
    self.options = options
    self.store = store
    report = PlayReport(inputs.count)
  }

  /// The file that was opened last.
  var input: InputFile { inputs[index] }

  /// Whether a later file exists that is not known to be unusable.
  var hasNext: Bool { hasNext(after: index) }

  private func hasNext(after index: Int) -> Bool {
    inputs.indices.contains { $0 > index && !unusable.contains($0) }
  }

  /// Opens the first usable file on this thread; nil when there is none.
  mutating func open() -> AnimatedImage? {
    for candidate in inputs.indices {
      do throws(CommandFailure) {
        return use(try inputs[candidate].open(options, knownTo: store), of: candidate)
      } catch {
        if fails(error, of: candidate) { return nil }
      }
    }
    return nil
  }

  /// Waits for a file that is being opened on another thread; nil when it gives up. `hasNext` tells
  /// whether another file follows.
  typealias Wait = (
    _ opening: InputOpening, _ input: InputFile, _ hasNext: Bool
  ) -> Result<AnimatedImage, CommandFailure>?

  /// Opens the next file (1) or the previous one (-1), skipping those that cannot be opened.
  ///
  /// Going back from the first file opens it again. Nil after the last file, when a signal asks to
  /// end, and when `wait` gives up. In the last case the file that was being opened becomes the
  /// current one, and opening it continues in the background.
  mutating func open(after step: Int, wait: Wait) -> AnimatedImage? {
    let others = step > 0 ? Array(inputs.indices) : Array(inputs.indices.reversed())
    let ahead = others.filter { ($0 - index) * step > 0 }
    for candidate in step > 0 ? ahead : ahead + inputs.indices.filter({ $0 >= index })
    where !unusable.contains(candidate) {
      if let image = kept[candidate] { return use(image, of: candidate) }
      let opening =
        openings[candidate]
        ?? InputOpening(inputs[candidate], options, knownTo: store) { Signals.wake() }
      switch wait(opening, inputs[candidate], hasNext(after: candidate)) {
      case .success(let image):
        return use(image, of: candidate)
      case .failure(let error):
        if fails(error, of: candidate) { return nil }
      case nil:
        openings[candidate] = opening
        index = candidate
        return nil
      }
    }
    return nil
  }

  private mutating func use(_ image: AnimatedImage, of candidate: Int) -> AnimatedImage {
    index = candidate
    openings[candidate] = nil
    let isReadOnce = inputs[candidate].isReadOnce
    if isReadOnce { kept[candidate] = image }
    return image
  }

  /// Records that a file cannot be opened; returns whether that is because a signal asks to end.
  private mutating func fails(_ error: CommandFailure, of candidate: Int) -> Bool {
    openings[candidate] = nil
    unusable.insert(candidate)
    report.add(error)
    return (Signals.ending) != nil
  }
}

/// How the playing of one file ended.
enum PlayerOutcome: Sendable {
  /// It ended, or the next file was requested.
  case next
  case previous
  case quit
  /// A signal, a key or the terminal ended playing.
  case ended(ExitStatus)
  case failed(CommandFailure)
}

/// Failures while playing, which are reported once the terminal is released.
struct PlayReport {
  private let inputCount: Int
  private var failures: [CommandFailure] = []
  /// How playing ended, if not with the last file.
  var ending: ExitStatus?

  init(_ inputCount: Int) { self.inputCount = inputCount }

  mutating func add(_ failure: CommandFailure) { failures.append(failure) }

  /// Writes the trace, even after a signal; `-` is standard output.
  mutating func write(trace: String, to name: String?, isReplacing: Bool) {
    guard let name else { return }
    let json = Array((trace + "\n").utf8)
    do throws(WriteFailure) {
      try OutputFile.write(report: json, to: name, isReplacing: isReplacing)
    } catch {
      if let failure = error.commandFailure { add(failure) }
    }
  }

  /// Reports the failures and returns the exit status.
  func finish() -> ExitStatus {
    for failure in failures { failure.report(asJSON: false) }
    if let ending { return ending }
    if failures.isEmpty { return .success }
    // A file may fail more than once.
    return Set(failures.map(\.file)).count < inputCount
      ? .partial : .combined(failures.map(\.status))
  }
}
