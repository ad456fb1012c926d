import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The extraction of one file: decodes in order and passes frames to the ``ExtractionWriter``.
struct FileExtraction {
  private let input: InputFile
  private let request: ExtractRequest
  private let image: AnimatedImage
  private let plan: ExtractionPlan
  /// Where the frames of all files go; a video has a file of its own.
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
    self.store = store
    self.stream = stream
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
      throw error.commandFailure
    }
  }

  /// Writes every frame of the plan. Signals are to be caught: from the start there may be a temporary file.
  ///
  /// - Throws: What keeps a video's file from being created.
  func run() throws(CommandFailure) -> ExtractionResult {
    let pending = try pendingVideo()
    let stream = pending?.stream ?? stream
    let writer = ExtractionWriter(
      jobs: min(request.threadCount, isFinished.count { !$0 }),
      context: ExtractionWriter.Context(
        form: request.form, metadata: image.metadata, isReplacing: request.isForced,
        stream: stream))
    var progress = ProgressReporter(
      style: request.isQuiet ? .none : request.progress, total: plan.outputs.count)
    var state = State(sieve: PictureSieve(request.choice), damage: DecodingDamage(of: image))
    state.writing = writeHeader(to: stream)
    let frames = FrameSource(
      image: image, isRaw: request.isRaw, rendering: request.rendering,
      hasRepeats: request.rate != nil, store: store)
    for number in plan.outputs.indices where state.writing == nil {
      if Signals.ending != nil { break }
      do throws(AnimatedImageError) {
        // A frame whose file exists is decoded too: only decoding finds all damage.
        let found = try frames.frame(at: plan.outputs[number].index)
        guard let frame = found else { continue }
        if let damage = frame.damage { state.damage.add(damage) }
        guard try takes(number, frame, &state) else { continue }
        do throws(WriteFailure) {
          let output = plan.outputs[number]
          let job = FrameJob(
            place: state.places.count, bitmap: frame.bitmap, path: output.path,
            repeats: output.repeats)
          state.places.append(number)
          try writer.submit(job)
        } catch {
          break
        }
        progress.update(state.progress(writer))
      } catch {
        state.decoding = CommandFailure(error, file: input.name, damage: image.options.damage)
        break
      }
    }
    let (written, failure) = writer.finish()
    state.writing = state.writing ?? failure
    progress.finish(state.progress(writer))
    return result(state, written, pending)
  }

  /// What is known while frames are written.
  private struct State {
    var sieve: PictureSieve
    /// The outputs in the order of the writer: places count only frames to be written, so that a stream can
    /// wait for the next place.
    var places: [Int] = []
    /// The outputs whose files are there.
    var kept: [Int] = []
    /// How many frames show a picture that another frame has.
    var repeatCount = 0
    var damage: DecodingDamage
    var writing: WriteFailure?
    var decoding: CommandFailure?

    init(sieve: PictureSieve, damage: DecodingDamage) {
      (self.sieve, self.damage) = (sieve, damage)
    }

    func progress(_ writer: ExtractionWriter) -> (frames: Int, bytes: Int?) {
      let (frames, bytes) = writer.progress
      return (frames + repeatCount, bytes)
    }
  }

  /// Whether output `number` is to be written now.
  private func takes(
    _ number: Int, _ frame: CompositedFrame, _ state: inout State
  ) throws(AnimatedImageError) -> Bool {
    if let index = plan.outputs[number].index, try !state.sieve.takes(frame.bitmap, of: index) {
      state.repeatCount += 1
      return false
    }
    if isFinished[number] { state.kept.append(number) }
    return !isFinished[number]
  }

  /// The file of a video, not yet under its name; nil for frames, and for a video that goes to ``stream``.
  private func pendingVideo() throws(CommandFailure) -> PendingFile? {
    guard plan.rate != nil, let path = plan.whole else { return nil }
    do throws(WriteFailure) {
      return try PendingFile(
        path, isReplacing: request.isForced,
        followsLinks: path.bytes == RawArguments.bytes(of: request.output))
    } catch {
      throw error.commandFailure
    }
  }

  /// Writes what a video starts with to `stream`; returns why that failed.
  private func writeHeader(to stream: OutputStream) -> WriteFailure? {
    guard let rate = plan.rate else { return nil }
    do throws(WriteFailure) {
      try stream.write(VideoStream.header(size: outputSize ?? image.canvasSize, rate: rate))
      return nil
    } catch {
      return error
    }
  }

  /// The size that frames are scaled to; nil when they keep theirs.
  private var outputSize: PixelSize? {
    request.rendering.map { Rendition($0, of: image.canvasSize, options: image.options).size }
  }

  /// Gives a video its name or writes the list of frames, if nothing is missing, and reports.
  private func result(
    _ state: State, _ written: [Int: WrittenFrame], _ pending: PendingFile?
  ) -> ExtractionResult {
    var report = AnimationReport(input: input, image: image, policy: request.policy)
    report.outputs = outputs(state, written)
    report.showings = request.choice == .all ? nil : state.sieve.showings
    report.frameDamage = state.damage.items
    report.outputSize = outputSize
    var failure = state.writing
    if failure == nil, state.decoding == nil, Signals.ending == nil {
      do throws(WriteFailure) {
        try pending?.finish()
        try writeList(report)
      } catch {
        failure = error
      }
    } else {
      pending?.discard()
    }
    let tally = state.kept.count + written.count + state.repeatCount
    return ExtractionResult(
      report, tally: "\(tally) of \(plan.outputs.count) frames",
      isResumable: !plan.directories.isEmpty && request.format != .y4m, request: request,
      writing: failure, decoding: state.decoding)
  }

  /// Writes the list of the frames' files and durations, if one was asked for.
  private func writeList(_ report: AnimationReport) throws(WriteFailure) {
    guard request.format == .ffconcat, let path = plan.whole else { return }
    let indices = plan.outputs.compactMap(\.index)
    var list = ConcatList(
      delays: indices.map { image.frames[$0].delay }, policy: request.policy,
      in: (FileSystem.destination(ofLink: "/proc/self/cwd") ?? "/")
        .pushing(OutputFile.directory(of: path)))
    let files = Dictionary(plan.outputs.map { ($0.index, $0.path) }) { first, _ in first }
    for index in indices {
      let picture = report.showings?.pictures[index] ?? index
      // A frame without pixels has no file.
      guard report.outputs?[picture] != nil, let file = files[picture] ?? nil else { continue }
      list.add(file, for: request.policy.shownDuration(of: image.frames[index].delay))
    }
    try OutputFile.write(
      list.bytes, to: path, isReplacing: request.isForced || request.isResuming,
      followsLinks: path.bytes == RawArguments.bytes(of: request.output))
  }

  /// The output of each frame by index, and of the static image, whether written now or kept.
  private func outputs(_ state: State, _ written: [Int: WrittenFrame]) -> [Int?: WrittenFrame] {
    var outputs: [Int?: WrittenFrame] = [:]
    for (place, number) in state.places.enumerated() {
      if let frame = written[place] { outputs[plan.outputs[number].index] = frame }
    }
    for number in state.kept {
      guard let path = plan.outputs[number].path else { continue }
      outputs[plan.outputs[number].index] = WrittenFrame(
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
  /// How often it is written to the stream.
  var repeats = 1
}
