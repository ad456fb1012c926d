import SystemPackage
import Zoetrope
import ZoetropeProcess

/// Supplies the frames to extract from one input, in the order of their outputs: those listed in a plan, or
/// those of a stream as they arrive.
protocol FrameSupply: AnyObject {
  /// The progress of a stream; nil for a file.
  var arrival: StreamProgress? { get }
  /// The whole image; nil for a stream.
  var image: AnimatedImage? { get }
  /// The metadata known when the first frame is written.
  var metadata: AnimationMetadata? { get }

  /// The next output. While no frame has arrived, returns ``SuppliedFrame/none`` whenever progress should be
  /// updated. Nil at the end, and after a signal.
  ///
  /// - Parameter isWriting: Whether earlier frames are still being written.
  func next(isWriting: Bool) -> SuppliedFrame?

  /// The frame of an output; nil if it has no pixels.
  func frame(at index: Int?) throws(AnimatedImageError) -> CompositedFrame?

  /// `output` with its checked name, in an existing directory.
  func named(
    _ output: ExtractionPlan.Output
  ) throws(CommandFailure) -> ExtractionPlan.Output

  /// Stops reading; the rest is not needed.
  func stop()

  /// The image as far as it is known, and the reason why frames are missing, if any.
  ///
  /// - Parameters:
  ///   - failure: Why reading stopped, if known.
  ///   - isWritten: Whether every frame could be written.
  /// - Throws: The error that prevents extracting the input at all.
  func settle(
    _ failure: CommandFailure?, isWritten: Bool
  ) throws(CommandFailure) -> (image: AnimatedImage, failure: CommandFailure?)
}

enum SuppliedFrame {
  case output(ExtractionPlan.Output)
  case none
}

/// The extraction of one input: decodes in order and passes frames to the ``ExtractionWriter``.
///
/// A stream differs from a file in three ways: names are checked frame by frame, pictures have only the
/// metadata that had arrived when the first one was written, and the number of frames is unknown.
struct Extraction {
  private let input: InputFile
  private let request: ExtractRequest
  private let destination: OutputDestination
  /// The destination of the frames of all files; a video has its own file.
  private let stream: OutputStream
  private let frames: any FrameSupply
  /// Nil for a stream.
  private let plan: ExtractionPlan?

  /// Opens the input if necessary; waits until the canvas of a stream is known.
  init(
    _ preparation: ExtractionPreparation, request: ExtractRequest, stream: OutputStream,
    store: FrameStore?
  ) throws(CommandFailure) {
    if let failure = preparation.failure { throw failure }
    input = preparation.input
    destination = preparation.destination
    (self.request, self.stream) = (request, stream)
    if let names = preparation.streamedNames {
      plan = nil
      frames = try ArrivingFrames(of: input, to: destination, names: names, request)
      return
    }
    let image: AnimatedImage
    if let opened = preparation.image {
      image = opened
    } else {
      image = try input.open(request.decodingOptions, knownTo: store)
    }
    try request.rendering?.check(against: image, file: input.name)
    let plan: ExtractionPlan
    if let planned = preparation.plan {
      plan = planned
    } else {
      plan = try ExtractionPlan(
        image: image, input: input, request: request, destination: destination,
        archiveKey: preparation.archiveKey)
    }
    do throws(WriteFailure) {
      for directory in plan.directories {
        try OutputFile.makeDirectory(directory)
        TemporaryFile.sweep(directory)
      }
    } catch {
      throw error.commandFailure
    }
    self.plan = plan
    frames = PlannedFrames(plan.outputs, of: image, request, store: store)
  }

  /// Writes every frame. The caller must catch signals, because there may be temporary files.
  ///
  /// - Throws: The error that prevents creating a video's file, or extracting the input at all.
  func run(_ progress: ProgressReporter) throws(CommandFailure) -> ExtractionResult {
    let pending = try pendingVideo()
    var state = State(sieve: PictureSieve(request.choice), stream: pending?.stream ?? stream)
    state.writing = writeHeader(to: state.stream)
    if request.skipsDamaged, !request.isRaw, let image = frames.image {
      state.trail = DamageTrail(of: image)
    }
    progress.expect(plan?.outputs.count)
    while state.writing == nil, let supplied = frames.next(isWriting: state.isWriting) {
      if case .output(let output) = supplied {
        do throws(CommandFailure) {
          try take(output, &state)
        } catch {
          state.decoding = error
          break
        }
      }
      // The reader has gone away.
      if state.writer?.hasFailed == true { break }
      progress.update(state.progress, of: frames.arrival)
    }
    frames.stop()
    let (written, failure) = state.writer?.finish() ?? ([:], nil)
    state.writing = state.writing ?? failure
    progress.finish(state.progress, of: frames.arrival)
    // Damage is reported next.
    progress.clear()
    return try result(state, written, pending)
  }

  /// The state while frames are written.
  private struct State {
    var sieve: PictureSieve
    let stream: OutputStream
    /// Created for the first written frame.
    var writer: ExtractionWriter?
    /// The outputs in the order of the writer. Only written frames are numbered, without gaps, so that a stream can
    /// wait for the next number.
    var submitted: [ExtractionPlan.Output] = []
    /// The outputs whose files already exist.
    var kept: [ExtractionPlan.Output] = []
    /// How many frames show the same picture as another frame.
    var repeatCount = 0
    /// How many frames were left out because they are affected by damage.
    var skippedCount = 0
    /// Nil unless such frames are left out.
    var trail: DamageTrail?
    var damage: [Damage] = []
    var writing: WriteFailure?
    var decoding: CommandFailure?

    init(sieve: PictureSieve, stream: OutputStream) { (self.sieve, self.stream) = (sieve, stream) }

    var progress: (frames: Int, bytes: Int?) {
      let (frames, bytes) = writer?.progress ?? (0, 0)
      return (frames + repeatCount + skippedCount, bytes)
    }

    /// Whether the writer has frames to finish.
    var isWriting: Bool { writer?.progress.frames ?? 0 < submitted.count }
  }

  /// Decodes the frame of an output and submits it, unless its picture is left out or already written.
  private func take(
    _ output: ExtractionPlan.Output, _ state: inout State
  ) throws(CommandFailure) {
    // A frame whose file exists is decoded too, because only decoding finds all damage. A picture that is left
    // out needs no name.
    guard let frame = try frame(of: output, &state) else { return }
    let output = try frames.named(output)
    guard !output.isKept else { return state.kept.append(output) }
    let writer = state.writer ?? makeWriter(state.stream)
    state.writer = writer
    let job = FrameJob(
      place: state.submitted.count, bitmap: frame.bitmap, path: output.path, entry: output.entry,
      repeats: output.repeats)
    state.submitted.append(output)
    // The writer remembers a failure and returns it at the end.
    try? writer.submit(job)
  }

  /// Returns the frame of an output and records its damage. Returns nil if the frame has no pixels or its picture is
  /// left out.
  private func frame(
    of output: ExtractionPlan.Output, _ state: inout State
  ) throws(CommandFailure) -> CompositedFrame? {
    do throws(AnimatedImageError) {
      if let index = output.index { try follow(to: index, &state) }
      guard let frame = try frames.frame(at: output.index) else { return nil }
      if let damage = frame.damage, state.damage.last != damage { state.damage.append(damage) }
      if request.skipsDamaged, isTouched(frame, output.index, &state) {
        state.skippedCount += 1
        return nil
      }
      guard let index = output.index, try !state.sieve.takes(frame.bitmap, of: index) else {
        return frame
      }
      state.repeatCount += 1
      return nil
    } catch {
      throw CommandFailure(error, file: input.name, damage: request.options.damage)
    }
  }

  /// With ``ExtractRequest/skipsDamaged``, decodes the frames before `index`, because their damage may show in it.
  private func follow(to index: Int, _ state: inout State) throws(AnimatedImageError) {
    while let next = state.trail?.next, next < index, Signals.ending == nil {
      let damage = try frames.frame(at: next)?.damage
      if let damage, state.damage.last != damage { state.damage.append(damage) }
      state.trail?.note(damage)
    }
  }

  /// Whether damage to a frame, or to one below it, shows in it.
  private func isTouched(_ frame: CompositedFrame, _ index: Int?, _ state: inout State) -> Bool {
    let isDamaged = frame.damage.map { !$0.kind.isTolerated } ?? false
    guard let index, state.trail != nil else { return isDamaged }
    if state.trail?.next == index { state.trail?.note(frame.damage) }
    return state.trail?.isTouched ?? isDamaged
  }

  private func makeWriter(_ stream: OutputStream) -> ExtractionWriter {
    ExtractionWriter(
      jobs: min(request.threadCount, plan?.outputs.count { !$0.isKept } ?? .max),
      context: ExtractionWriter.Context(
        form: request.form, metadata: frames.metadata, isReplacing: request.isForced,
        stream: stream))
  }

  /// A video's file under its temporary name; nil for frames, and for a video that goes to ``stream``.
  private func pendingVideo() throws(CommandFailure) -> PendingFile? {
    guard plan?.rate != nil, let path = plan?.whole else { return nil }
    do throws(WriteFailure) {
      return try PendingFile(
        path, isReplacing: request.isForced,
        followsLinks: path.bytes == RawArguments.bytes(of: request.output))
    } catch {
      throw error.commandFailure
    }
  }

  /// Writes the header of a video to `stream`; returns the error, if any.
  private func writeHeader(to stream: OutputStream) -> WriteFailure? {
    guard let plan, let rate = plan.rate else { return nil }
    do throws(WriteFailure) {
      try stream.write(VideoStream.header(size: plan.pictureSize, rate: rate))
      return nil
    } catch {
      return error
    }
  }

  /// Gives a video its name or writes the list of frames, if nothing is missing, and reports.
  private func result(
    _ state: State, _ written: [Int: WrittenFrame], _ pending: PendingFile?
  ) throws(CommandFailure) -> ExtractionResult {
    let (image, decoding) = try frames.settle(state.decoding, isWritten: state.writing == nil)
    var report = AnimationReport(input: input, image: image, policy: request.policy)
    report.isRaw = request.isRaw
    if let rate = plan?.rate ?? request.rate, request.rate != nil {
      (report.rate, report.pictures) = (rate, pictures(state, written))
    } else {
      report.outputs = outputs(state, written)
    }
    report.showings = request.choice == .all ? nil : state.sieve.showings
    // Known only now, at the end of the stream.
    var damage = DecodingDamage(of: image)
    for item in state.damage { damage.add(item) }
    report.frameDamage = damage.items
    report.outputSize = request.rendering.map {
      Rendition($0, of: image.canvasSize, options: image.options).size
    }
    var failure = state.writing
    if failure == nil, decoding == nil, Signals.ending == nil {
      do throws(WriteFailure) {
        try pending?.finish()
        try writeList(report)
      } catch {
        failure = error
      }
    } else {
      pending?.discard()
    }
    let count = state.kept.count + written.count
    return ExtractionResult(
      report,
      tally: plan.map {
        "\(count + state.repeatCount + state.skippedCount) of \($0.outputs.count) frames"
      }
        ?? "\(count) frame\(count == 1 ? "" : "s")",
      isResumable: !destination.isStream && request.format != .y4m, request: request,
      writing: failure, decoding: decoding)
  }

  /// Writes the list of the frames' files and durations, if requested.
  private func writeList(_ report: AnimationReport) throws(WriteFailure) {
    guard request.format == .ffconcat, let plan, let path = plan.whole else { return }
    let frames = report.image.frames
    let indices = plan.outputs.compactMap(\.index)
    var list = ConcatList(
      delays: indices.map { frames[$0].delay }, policy: request.policy,
      in: (FileSystem.destination(ofLink: "/proc/self/cwd") ?? "/")
        .pushing(OutputFile.directory(of: path)))
    let files = Dictionary(plan.outputs.map { ($0.index, $0.path) }) { first, _ in first }
    for index in indices {
      let picture = report.showings?.pictures[index] ?? index
      // A frame without pixels has no file.
      guard report.outputs?[picture] != nil, let file = files[picture] ?? nil else { continue }
      list.add(file, for: request.policy.shownDuration(of: frames[index].delay))
    }
    try OutputFile.write(
      list.bytes, to: path, isReplacing: request.isForced || request.isResuming,
      followsLinks: path.bytes == RawArguments.bytes(of: request.output))
  }

  /// The outputs of a resampled play, whether written now or kept.
  private func pictures(_ state: State, _ written: [Int: WrittenFrame]) -> [SampledPicture] {
    let now = state.submitted.enumerated().compactMap { place, output in
      written[place].map { (output, $0) }
    }
    let all = now + state.kept.compactMap { output in kept(output).map { (output, $0) } }
    return all.compactMap { output, frame in
      guard let number = output.picture, let index = output.index else { return nil }
      return SampledPicture(number: number, frame: index, output: frame)
    }.sorted { $0.number < $1.number }
  }

  /// The file of an output that existed.
  private func kept(_ output: ExtractionPlan.Output) -> WrittenFrame? {
    output.path.map {
      WrittenFrame(name: FileName($0), byteCount: FileStatus(at: $0)?.byteCount ?? 0)
    }
  }

  /// The output of each frame by index, and of the static image, whether written now or kept.
  private func outputs(_ state: State, _ written: [Int: WrittenFrame]) -> [Int?: WrittenFrame] {
    var outputs: [Int?: WrittenFrame] = [:]
    for (place, output) in state.submitted.enumerated() {
      if let frame = written[place] { outputs[output.index] = frame }
    }
    for output in state.kept { outputs[output.index] = kept(output) }
    return outputs
  }
}
