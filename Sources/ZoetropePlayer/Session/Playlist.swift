import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The files to play, and the number of the current file.
///
/// A file that cannot be opened is reported once and is skipped from then on.
struct Playlist {
  private let inputs: [InputFile]
  private let settings: PlayerSettings
  /// The number of the current file. Files are numbered from 0.
  private(set) var index = 0
  private var unusable: Set<Int> = []
  /// For each file that was skipped, the reason.
  private var problems: [Int: String] = [:]
  /// The failures that have not been shown on the screen yet.
  private var skipped: [CommandFailure] = []
  /// The files that are still being opened although the player has moved on.
  private var openings: [Int: InputOpening] = [:]
  /// The images that are kept open. These are images from standard input and pipes, which can be read only once, and
  /// images that are read while their bytes arrive.
  private var kept: [Int: OpenedInput] = [:]
  var report: PlayReport

  init(_ inputs: [InputFile], settings: PlayerSettings) {
    (self.inputs, self.settings) = (inputs, settings)
    report = PlayReport(inputs.count)
  }

  /// The file that was opened last, or that was being opened when the wait for it ended.
  var input: InputFile { inputs[index] }

  /// Whether there is a later file that may still turn out to be usable.
  var hasNext: Bool { hasNext(after: index) }

  private func hasNext(after index: Int) -> Bool {
    inputs.indices.contains { $0 > index && !unusable.contains($0) }
  }

  /// The list of the files, with the reasons why some were skipped.
  var list: FileList {
    FileList(
      entries: inputs.indices.map { .init(name: inputs[$0].name, problem: problems[$0]) },
      current: index)
  }

  /// Returns a message about the files that were skipped since the last call, or nil if none were skipped.
  mutating func takeNotice() -> String? {
    defer { skipped = [] }
    guard var first = skipped.first else { return nil }
    // The frame number is left out, because a failure counts frames from 0, whereas the screen counts them from 1.
    first.frame = nil
    return skipped.count == 1
      ? "skipped \(first.line)" : "skipped \(skipped.count) files: \(first.line), ..."
  }

  /// Opens the first usable file on this thread. Returns nil if there is none, or if a signal asks the process to end.
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

  /// A function that waits for a file that is being opened on another thread. It returns nil if it stops waiting.
  /// `hasNext` is true if another file follows in the list.
  typealias Wait = (
    _ opening: InputOpening, _ input: InputFile, _ hasNext: Bool
  ) -> Result<OpenedInput, CommandFailure>?

  /// The choice of the file to open.
  enum Request {
    /// The next usable file (1) or the previous usable file (-1). If no file before the current one is usable, the
    /// current file is opened again, or a later file if the current file is not usable either.
    case step(Int)
    /// The file with a number, counted from 0, even if the file was skipped before.
    case file(Int)
  }

  /// Opens a file, and skips files that cannot be opened.
  ///
  /// Returns nil if no file can be opened, if a signal asks the process to end, or if `wait` stops waiting. In the last
  /// case, the file that was being opened becomes the current file, and continues to be opened in the background.
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
        do throws(CommandFailure) {
          try settings.checkStart(in: image, of: inputs[candidate])
          return use(image, of: candidate)
        } catch {
          if fails(error, of: candidate) { return nil }
        }
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

  /// Returns the numbers of the files that a request allows, in the order in which to try them.
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

  /// Makes file `number` the current file again, because no other file could be opened.
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

  /// Adds to the report the way in which each stream ended. This is called after playback has ended.
  mutating func reportEndings() {
    for (candidate, image) in kept.sorted(by: { $0.key < $1.key }) {
      guard let stream = image.stream else { continue }
      report.add(
        stream, from: inputs[candidate], number: candidate, damage: settings.decoding.damage)
    }
  }

  /// Records that a file cannot be opened. Returns whether opening failed because a signal asks the process to end.
  private mutating func fails(_ error: CommandFailure, of candidate: Int) -> Bool {
    openings[candidate] = nil
    if unusable.insert(candidate).inserted, problems[candidate] == nil {
      report.add(error, of: candidate)
    }
    problems[candidate] = error.messageWithAdvice
    skipped.append(error)
    return Signals.ending != nil
  }
}
