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
  /// Failures that are not reported on the screen yet.
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

  /// A message about the files that were skipped since the last call; nil if there are none.
  mutating func takeNotice() -> String? {
    defer { skipped = [] }
    guard var first = skipped.first else { return nil }
    // The screen counts frames from 1, but the failure counts from 0.
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
    /// The next usable file (1) or the previous one (-1). Before the first file comes the first one again.
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

  /// The candidate files for a request, in the order in which they are tried.
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

  /// Adds how the streams ended to the report, once playing is over.
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
