import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The files to play, and where among them we are.
///
/// A file that cannot be opened is told of once and passed over from then on.
struct Playlist {
  private let inputs: [InputFile]
  private let options: DecodingOptions
  private var index = 0
  private var unusable: Set<Int> = []
  /// Files that were left before they were open.
  private var openings: [Int: InputOpening] = [:]
  /// Images of standard input and of pipes, which give their bytes only once.
  private var kept: [Int: AnimatedImage] = [:]
  var report: PlayReport

  init(_ inputs: [InputFile], options: DecodingOptions) {
    self.inputs = inputs
    self.options = options
    report = PlayReport(inputs.count)
  }

  /// The file that was opened last.
  var input: InputFile { inputs[index] }

  /// Whether a file comes after that which is not known to be unusable.
  var hasNext: Bool { hasNext(after: index) }

  private func hasNext(after index: Int) -> Bool {
    inputs.indices.contains { $0 > index && !unusable.contains($0) }
  }

  /// Opens the first file that can be opened, on this thread; nil when there is none.
  mutating func open() -> AnimatedImage? {
    for candidate in inputs.indices {
      do throws(CommandFailure) {
        return use(try inputs[candidate].open(options), of: candidate)
      } catch {
        if fails(error, of: candidate) { return nil }
      }
    }
    return nil
  }

  /// Waits for a file that is being opened on another thread; nil when it gives up. It is told whether
  /// another file comes after that one.
  typealias Wait = (
    _ opening: InputOpening, _ input: InputFile, _ hasNext: Bool
  ) -> Result<AnimatedImage, CommandFailure>?

  /// Opens the next file (1) or the one before (-1), passing over those that cannot be opened.
  ///
  /// Before the first the first is opened again. Nil after the last, when a signal asks for the end,
  /// and when `wait` gives up: then the file that it waited for is the one to go on from, and is still
  /// being opened when it is come back to.
  mutating func open(after step: Int, wait: Wait) -> AnimatedImage? {
    let others = step > 0 ? Array(inputs.indices) : Array(inputs.indices.reversed())
    let ahead = others.filter { ($0 - index) * step > 0 }
    for candidate in step > 0 ? ahead : ahead + inputs.indices.filter({ $0 >= index })
    where !unusable.contains(candidate) {
      if let image = kept[candidate] { return use(image, of: candidate) }
      let opening =
        openings[candidate] ?? InputOpening(inputs[candidate], options) { Signals.wake() }
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

  /// Notes that a file cannot be opened; true when that is so because a signal asks for the end.
  private mutating func fails(_ error: CommandFailure, of candidate: Int) -> Bool {
    openings[candidate] = nil
    unusable.insert(candidate)
    report.add(error)
    return (Signals.ending) != nil
  }
}

/// How the playing of one file ended.
enum PlayerOutcome: Sendable {
  /// It came to its end, or the next file was asked for.
  case next
  case previous
  case quit
  /// A signal, a key or the terminal ended everything.
  case ended(ExitStatus)
  case failed(CommandFailure)
}

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
      try OutputFile.write(report: json, to: name, isReplacing: isReplacing)
    } catch {
      if let failure = error.commandFailure { add(failure) }
    }
  }

  /// Tells the failures and gives the exit status.
  func finish() -> ExitStatus {
    for failure in failures { failure.report(asJSON: false) }
    if let ending { return ending }
    if failures.isEmpty { return .success }
    // A file that was played before it failed may have failed more than once.
    return Set(failures.map(\.file)).count < inputCount
      ? .partial : .combined(failures.map(\.status))
  }
}
