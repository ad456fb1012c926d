import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The extraction of one file: decodes in order and passes frames to the ``ExtractionWriter``.
struct FileExtraction {
  private let input: InputFile
  private let request: ExtractRequest
  private let image: AnimatedImage
  private let plan: ExtractionPlan
  private let stream: OutputStream
  /// Decoded frames on disk, if any.
  private let store: FrameStore?
  /// Whether each output of the plan exists and is kept.
  private let isFinished: [Bool]

  /// Opens the file, if that has not been done.
  init(
    _ preparation: ExtractionPreparation, request: ExtractRequest, stream: OutputStream,
    store: FrameStore?
  ) throws(CommandFailure) {
    if let failure = preparation.failure { throw failure }
    input = preparation.input
    self.request = request
    self.stream = stream
    self.store = store
    let image: AnimatedImage
    if let opened = preparation.image {
      image = opened
    } else {
      image = try input.open(request.decodingOptions, knownTo: store)
    }
    self.image = image
    try request.rendering?.check(against: image, file: input.name)
    if let plan = preparation.plan {
      (self.plan, isFinished) = (plan, preparation.isFinished)
    } else {
      plan = try ExtractionPlan(
        image: image, input: input, request: request, destination: preparation.destination)
      isFinished = plan.outputs.map { _ in false }
    }
    do throws(WriteFailure) {
      for directory in plan.directories {
        try OutputFile.makeDirectory(directory)
        TemporaryFile.sweep(directory)
      }
    } catch {
      throw error.commandFailureOrEnd
    }
  }

  func run() -> ExtractionResult {
    let writer = ExtractionWriter(
      jobs: min(request.threadCount, isFinished.count { !$0 }),
      context: ExtractionWriter.Context(
        format: request.format, metadata: image.metadata, isReplacing: request.isForced,
        stream: stream))
    var progress = ProgressReporter(
      style: request.isQuiet ? .none : request.progress, total: plan.outputs.count)
    var frameDamage: [Damage] = []
    let known = Set(image.damage)
    var decodingFailure: CommandFailure?
    let frames = FrameSource(
      image: image, isRaw: request.isRaw, rendering: request.rendering,
      hasRepeats: request.rate != nil, store: store)
    // Places count only frames to be written, so that a stream can wait for the next place.
    var places: [Int] = []
    submitting: for (number, output) in plan.outputs.enumerated() where !isFinished[number] {
      if Signals.ending != nil { break }
      do throws(AnimatedImageError) {
        let found = try frames.frame(at: output.index)
        guard let frame = found else { continue }
        if let damage = frame.damage, !known.contains(damage), frameDamage.last != damage {
          frameDamage.append(damage)
        }
        do throws(WriteFailure) {
          let job = FrameJob(place: places.count, bitmap: frame.bitmap, path: output.path)
          places.append(number)
          try writer.submit(job)
        } catch {
          break submitting
        }
        progress.update(writer.progress)
      } catch {
        decodingFailure = CommandFailure(error, file: input.name, damage: image.options.damage)
        break
      }
    }
    let (written, failure) = writer.finish()
    progress.finish(writer.progress)
    let kept = isFinished.count { $0 } + written.count
    var report = AnimationReport(input: input, image: image, policy: request.policy)
    report.outputs = outputs(places: places, written: written)
    report.frameDamage = frameDamage
    report.outputSize = request.rendering.map {
      Rendition($0, of: image.canvasSize, options: image.options).size
    }
    return ExtractionResult(
      report, tally: "\(kept) of \(plan.outputs.count) frames",
      isResumable: !plan.directories.isEmpty, request: request, writing: failure,
      decoding: decodingFailure)
  }

  /// The output of each frame by index, and of the static image, whether written now or kept.
  private func outputs(places: [Int], written: [Int: WrittenFrame]) -> [Int?: WrittenFrame] {
    var outputs: [Int?: WrittenFrame] = [:]
    for (place, number) in places.enumerated() {
      if let frame = written[place] { outputs[plan.outputs[number].index] = frame }
    }
    for (number, output) in plan.outputs.enumerated() where isFinished[number] {
      guard let path = output.path else { continue }
      outputs[output.index] = WrittenFrame(
        name: FileName(path), byteCount: FileStatus(at: path)?.byteCount ?? 0)
    }
    return outputs
  }
}

/// A composited frame on its way to its output.
struct FrameJob: Sendable {
  /// Its place among the outputs of this file, from 0.
  let place: Int
  let bitmap: Bitmap
  /// Nil for the stream.
  let path: FilePath?
}

/// The frames of an image as requested: composited or stored, scaled or not.
final class FrameSource {
  private let composited: FrameReader
  private let stored: StoredFrameReader
  private let isRaw: Bool
  private let rendering: Rendering?
  /// Rescales only what changed since the previous frame.
  private var renderer: FrameRenderer?
  /// Reads and stores rendered frames; nil without a store.
  private let kept: CachedFrameReader?
  /// Whether the same frame may be requested again at once.
  private let hasRepeats: Bool
  /// The previous frame, kept only for repeats: holding it makes the compositor copy.
  private var last: CompositedFrame?

  init(
    image: AnimatedImage, isRaw: Bool, rendering: Rendering?, hasRepeats: Bool,
    store: FrameStore? = nil
  ) {
    kept = store.map {
      CachedFrameReader(image, rendering: rendering ?? Rendering(), cache: $0)
    }
    self.hasRepeats = hasRepeats
    composited = FrameReader(image)
    stored = StoredFrameReader(image)
    self.isRaw = isRaw
    self.rendering = rendering
    renderer = rendering.map {
      FrameRenderer($0, of: image.canvasSize, options: image.options)
    }
  }

  /// Frame `index`, or the static image for nil; nil when it has no pixels.
  func frame(at index: Int?) throws(AnimatedImageError) -> CompositedFrame? {
    guard let index else {
      guard let frame = try stored.staticImage() else { return nil }
      return rendering.map { frame.scaled(by: $0) } ?? frame
    }
    if isRaw { return try stored.frame(at: index) }
    guard hasRepeats else { return try next(index) }
    if last?.index != index { last = try next(index) }
    return last
  }

  private func next(_ index: Int) throws(AnimatedImageError) -> CompositedFrame? {
    if let kept { return try kept.frame(at: index) { Signals.ending != nil } }
    let frame = try composited.frame(at: index)
    guard renderer != nil else { return frame }
    return try renderer?.render(frame)
  }
}

extension CompositedFrame {
  /// A picture of any size, scaled whole.
  func scaled(by rendering: Rendering) -> CompositedFrame {
    guard let target = rendering.target else { return self }
    let bitmap = bitmap.scaled(
      to: target, fit: rendering.fit, filter: rendering.filter,
      linearLight: rendering.linearLight)
    return CompositedFrame(
      index: index, bitmap: bitmap, dirtyRect: PixelRect(bitmap.size), damage: damage)
  }
}
