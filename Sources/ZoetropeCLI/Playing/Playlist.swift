import Zoetrope

/// The files to play, and where among them we are.
///
/// A file that cannot be opened is told of once and passed over from then on.
struct Playlist {
  private let inputs: [InputFile]
  private let options: DecodingOptions
  private var index = 0
  private var unusable: Set<Int> = []
  var report: PlayReport

  init(_ inputs: [InputFile], options: DecodingOptions) {
    self.inputs = inputs
    self.options = options
    report = PlayReport(inputs.count)
  }

  /// The file that was opened last.
  var input: InputFile { inputs[index] }

  /// Whether a file comes after that which is not known to be unusable.
  var hasNext: Bool { inputs.indices.contains { $0 > index && !unusable.contains($0) } }

  /// Opens the first file that can be opened; nil when there is none.
  mutating func open() -> AnimatedImage? { open(from: 0, by: 1) }

  /// Opens the next file (1) or the one before (-1), passing over those that cannot be opened.
  ///
  /// Before the first the first is opened again; nil after the last, and when a signal asks for the
  /// end.
  mutating func open(after step: Int) -> AnimatedImage? {
    open(from: index + step, by: step) ?? (step < 0 ? open(from: index, by: 1) : nil)
  }

  private mutating func open(from start: Int, by step: Int) -> AnimatedImage? {
    var candidate = start
    while inputs.indices.contains(candidate) {
      defer { candidate += step }
      if unusable.contains(candidate) { continue }
      do throws(CommandFailure) {
        let image = try inputs[candidate].open(options)
        index = candidate
        return image
      } catch {
        unusable.insert(candidate)
        report.add(error)
        if SignalFlag.status ?? WakePipe.ending != nil { return nil }
      }
    }
    return nil
  }
}
