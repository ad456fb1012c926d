import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The files to play, and the current one.
///
/// A file that cannot be opened is reported once and skipped from then on.
struct Playlist {
  private let inputs: [InputFile]
  private let settings: PlayerSettings
  /// The number of the current file, from 0.
  private(set) var index = 0
  private var unusable: Set<Int> = []
  /// Why files were skipped.
  private var problems: [Int: String] = [:]
  /// Failures that nobody has been told of.
  private var skipped: [CommandFailure] = []
  /// Files that were left while they were being opened.
  private var openings: [Int: InputOpening] = [:]
  /// Images from standard input and pipes, which can be read only once, and files that are followed.
  private var kept: [Int: OpenedInput] = [:]
  var report: PlayReport

  init(_ inputs: [InputFile], settings: PlayerSettings) {
    (self.inputs, self.settings) = (inputs, settings)
    report = PlayReport(inputs.count)
  }

  /// The file that was opened last.
  var input: InputFile { inputs[index] }

  /// Whether a later file exists that is not known to be unusable.
  var hasNext: Bool { hasNext(after: index) }

  private func hasNext(after index: Int) -> Bool {
    inputs.indices.contains { $0 > index && !unusable.contains($0) }
  }

  /// The files, and why some were skipped.
  var list: FileList {
    FileList(
      entries: inputs.indices.map { .init(name: inputs[$0].name, problem: problems[$0]) },
      current: index)
  }

  /// What to say of the files that were skipped since this was asked last; nil when none was.
  mutating func takeNotice() -> String? {
    defer { skipped = [] }
    guard var first = skipped.first else { return nil }
    // The screen counts frames from 1.
    first.frame = nil
    return skipped.count == 1
      ? "skipped \(first.line)" : "skipped \(skipped.count) files: \(first.line), ..."
  }

  /// Opens the first usable file on this thread; nil when there is none.
  mutating func open() -> OpenedInput? {
    for candidate in inputs.indices {
      do throws(CommandFailure) {
        return use(try settings.open(inputs[candidate]), of: candidate)
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
  ) -> Result<OpenedInput, CommandFailure>?

  /// Which file to open.
  enum Request {
    /// The next usable file (1) or the previous one (-1); before the first, the first again.
    case step(Int)
    /// A file by its number from 0, even one that was skipped.
    case file(Int)
  }

  /// Opens a file, skipping those that cannot be opened.
  ///
  /// Nil when there is none, when a signal asks to end, and when `wait` gives up. In the last case the
  /// file that was being opened becomes the current one, and opening it continues in the background.
  mutating func open(_ request: Request, wait: Wait) -> OpenedInput? {
    for candidate in candidates(for: request) {
      if let image = kept[candidate] { return use(image, of: candidate) }
      let opening =
        openings[candidate]
        ?? InputOpening(
          inputs[candidate], settings.decoding, reading: settings.reading, knownTo: settings.store,
          whenDone: { WakePipe.wake() })
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

  /// The files that answer a request, in the order in which they are tried.
  private func candidates(for request: Request) -> [Int] {
    switch request {
    case .file(let number): return [number]
    case .step(let step) where step > 0:
      return inputs.indices.filter { $0 > index && !unusable.contains($0) }
    case .step:
      let before = inputs.indices.reversed().filter { $0 < index }
      return (before + inputs.indices.filter { $0 >= index }).filter { !unusable.contains($0) }
    }
  }

  /// Makes file `number` the current one again, because no other could be opened.
  mutating func stay(at number: Int) { index = number }

  private mutating func use(_ image: OpenedInput, of candidate: Int) -> OpenedInput {
    index = candidate
    openings[candidate] = nil
    problems[candidate] = nil
    unusable.remove(candidate)
    let isReadOnce = inputs[candidate].isReadOnce
    if isReadOnce || image.stream != nil { kept[candidate] = image }
    return image
  }

  /// Adds what became of the streams to the report, once playing is over.
  mutating func reportEndings() {
    for (candidate, image) in kept.sorted(by: { $0.key < $1.key }) {
      guard let stream = image.stream else { continue }
      report.add(
        stream, from: inputs[candidate], number: candidate, damage: settings.decoding.damage)
    }
  }

  /// Records that a file cannot be opened; returns whether that is because a signal asks to end.
  private mutating func fails(_ error: CommandFailure, of candidate: Int) -> Bool {
    openings[candidate] = nil
    if unusable.insert(candidate).inserted, problems[candidate] == nil {
      report.add(error, of: candidate)
    }
    problems[candidate] = error.message
    skipped.append(error)
    return Signals.ending != nil
  }
}

/// How the playing of one file ended.
enum PlayerOutcome: Sendable {
  /// It ended.
  case next
  /// A key asked for the next file (1) or the previous one (-1).
  case skip(Int)
  /// A file was chosen from the list, by its number from 0.
  case choose(Int)
  case quit
  /// A signal, a key or the terminal ended playing.
  case ended(ExitStatus)
  case failed(CommandFailure)
}

/// Failures while playing, which are reported once the terminal is released.
struct PlayReport {
  private let inputCount: Int
  private var failures: [CommandFailure] = []
  /// The numbers of the inputs that failed; nil stands for what is no input.
  private var failed: Set<Int?> = []
  /// What is worth a line but fails nothing.
  private var notes: [String] = []
  /// How playing ended, if not with the last file.
  var ending: ExitStatus?

  init(_ inputCount: Int) { self.inputCount = inputCount }

  /// Adds a failure of input `number`; nil for one of the trace.
  mutating func add(_ failure: CommandFailure, of number: Int?) {
    failures.append(failure)
    failed.insert(number)
  }

  /// Adds how a stream ended, if that was not with the end of its animation.
  ///
  /// A cut stream is noted but fails nothing, as a truncated file.
  mutating func add(
    _ stream: StreamedImage, from input: InputFile, number: Int, damage: DamagePolicy
  ) {
    let progress = stream.progress
    guard let ending = progress.ending, ending != .complete, ending != .cancelled else { return }
    if let error = ending.error {
      let failure = CommandFailure(error, file: input.name, damage: damage)
      // Playing has failed with it too if no frame arrived.
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

/// What the player says about streams.
enum StreamWord {
  /// The line for a stream that ended before its animation did.
  static func cut(_ progress: StreamProgress, input: InputFile) -> String {
    let frames = "\(progress.frameCount) frame\(progress.frameCount == 1 ? "" : "s")"
    return
      "zoetrope: \(input.name.sanitized): cut short after \(progress.byteCount) bytes, \(frames)\n"
  }
}
