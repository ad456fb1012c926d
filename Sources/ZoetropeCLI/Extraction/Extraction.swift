import SystemPackage
import Zoetrope
import ZoetropeProcess

/// Supplies the frames to extract from one input, in the order of their outputs. These are the frames that a plan
/// lists, or the frames of a stream as they arrive.
protocol FrameSupply: AnyObject {
  /// The progress of a stream, or nil for a file.
  var arrival: StreamProgress? { get }
  /// The whole image, or nil for a stream.
  var image: AnimatedImage? { get }
  /// The metadata that is known when the first frame is written.
  var metadata: AnimationMetadata? { get }

  /// Waits for the next output and returns it. While no frame has arrived, returns ``SuppliedFrame/none`` whenever
  /// progress should be updated. Returns nil at the end and after a signal.
  ///
  /// - Parameter isWriting: Whether earlier frames are still being written.
  func next(isWriting: Bool) -> SuppliedFrame?

  /// Returns the frame with this index, or nil if it has no pixels. A nil index means the static image.
  func frame(at index: Int?) throws(AnimatedImageError) -> CompositedFrame?

  /// Returns `output` with its path set and checked. Ensures that the directory of the path exists.
  func named(
    _ output: ExtractionPlan.Output
  ) throws(CommandFailure) -> ExtractionPlan.Output

  /// Stops reading the input, because the rest of it is not needed.
  func stop()

  /// Returns the image as far as it is known, and the reason why frames are missing, or nil if none are missing.
  ///
  /// - Parameters:
  ///   - failure: The known reason why reading stopped early. Nil if no reason is known or reading did not stop early.
  ///   - isWritten: Whether every frame could be written.
  /// - Throws: An error if nothing at all could be extracted from the input.
  func settle(
    _ failure: CommandFailure?, isWritten: Bool
  ) throws(CommandFailure) -> (image: AnimatedImage, failure: CommandFailure?)
}

enum SuppliedFrame {
  case output(ExtractionPlan.Output)
  case none
}

/// The extraction of one input, which decodes frames in order and passes them to the ``ExtractionWriter``.
///
/// A stream differs from a file in three ways: names are checked frame by frame, pictures have only the metadata that
/// had arrived when the first picture was written, and the number of frames is unknown.
struct Extraction {
  private let input: InputFile
  private let request: ExtractRequest
  private let destination: OutputDestination
  /// The stream for the frames of all inputs. A video that has its own file does not use this stream.
  private let stream: OutputStream
  private let frames: any FrameSupply
  /// The plan of the outputs, or nil for a stream.
  private let plan: ExtractionPlan?

  /// Opens the input if it is not open. If the input is a stream, waits until its canvas is known.
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

  /// Writes every frame. The caller must catch signals, because temporary files may exist that have to be removed.
  ///
  /// - Throws: An error if a video's file could not be created, or if nothing at all could be extracted from the input.
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
      // The reader of the output may have gone away.
      if state.writer?.hasFailed == true { break }
      progress.update(state.progress, of: frames.arrival)
    }
    frames.stop()
    let (written, failure) = state.writer?.finish() ?? ([:], nil)
    state.writing = state.writing ?? failure
    progress.finish(state.progress, of: frames.arrival)
    // The progress line is removed, because damage is reported next.
    progress.clear()
    return try result(state, written, pending)
  }

  /// The state while frames are written.
  private struct State {
    var sieve: PictureSieve
    let stream: OutputStream
    /// The writer, which is created for the first frame that is written.
    var writer: ExtractionWriter?
    /// The outputs that were submitted to the writer, in order. Their places are consecutive numbers, so that a stream
    /// can wait for the next place.
    var submitted: [ExtractionPlan.Output] = []
    /// The outputs whose files already exist.
    var kept: [ExtractionPlan.Output] = []
    /// The number of frames that were left out because an earlier frame shows the same picture.
    var repeatCount = 0
    /// The number of frames that were left out because damage is visible in them.
    var skippedCount = 0
    /// The record of the frames in which damage is visible, or nil unless such frames are left out.
    var trail: DamageTrail?
    var damage: [Damage] = []
    var writing: WriteFailure?
    var decoding: CommandFailure?

    var progress: (frames: Int, bytes: Int?) {
      let (frames, bytes) = writer?.progress ?? (0, 0)
      return (frames + kept.count + repeatCount + skippedCount, bytes)
    }

    /// Whether the writer still has frames to write.
    var isWriting: Bool { writer?.progress.frames ?? 0 < submitted.count }
  }

  /// Decodes the frame of an output and submits it, unless its picture is left out or its file already exists.
  private func take(
    _ output: ExtractionPlan.Output, _ state: inout State
  ) throws(CommandFailure) {
    // A frame whose file exists is decoded too, because only decoding finds all damage. A picture that is left out
    // needs no name.
    guard let frame = try frame(of: output, &state) else { return }
    let output = try frames.named(output)
    guard !output.isKept else { return state.kept.append(output) }
    let writer = state.writer ?? makeWriter(state.stream)
    state.writer = writer
    let job = FrameJob(
      place: state.submitted.count, bitmap: frame.bitmap, path: output.path, entry: output.entry,
      repeats: output.repeats)
    state.submitted.append(output)
    // The writer remembers the failure, and returns it at the end.
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

  /// If ``ExtractRequest/skipsDamaged`` is set, decodes the frames before `index`, because their damage may be visible
  /// in frame `index`.
  private func follow(to index: Int, _ state: inout State) throws(AnimatedImageError) {
    while let next = state.trail?.next, next < index, Signals.ending == nil {
      let damage = try frames.frame(at: next)?.damage
      if let damage, state.damage.last != damage { state.damage.append(damage) }
      state.trail?.note(damage)
    }
  }

  /// Returns whether damage is visible in `frame`: its own damage, or that of an earlier frame below it.
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

  /// Creates a video's file under a temporary name. Returns nil if the output is not a video, or if the video goes to
  /// ``stream``.
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

  /// Writes the header of a video to `stream`. Returns the error, or nil if the header was written or no video is
  /// requested.
  private func writeHeader(to stream: OutputStream) -> WriteFailure? {
    guard let plan, let rate = plan.rate else { return nil }
    do throws(WriteFailure) {
      try stream.write(VideoStream.header(size: plan.pictureSize, rate: rate))
      return nil
    } catch {
      return error
    }
  }

  /// Returns the outcome of the extraction. If nothing is missing, first gives a video its final name, or writes the
  /// list of frames.
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
    // The damage to the structure of a stream is known only now, at its end.
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
    return ExtractionResult(
      report, tally: tally(state, written, pending),
      isResumable: !destination.isStream && request.format != .y4m, request: request,
      writing: failure, decoding: decoding)
  }

  /// Returns what was written, as text for the message after an interruption. A video or an archive in a file appears
  /// only when it is complete.
  private func tally(
    _ state: State, _ written: [Int: WrittenFrame], _ pending: PendingFile?
  ) -> String {
    var isPending = pending?.isTemporary ?? false
    if request.format == .tar, case .stream(let path) = destination {
      isPending = !OutputStream.isNeeded(for: path)
    }
    if isPending { return "nothing was" }
    let count = state.kept.count + written.count
    return plan.map {
      "\(count + state.repeatCount + state.skippedCount) of \($0.outputs.count) frames"
    } ?? count.counted("frame")
  }

  /// Writes the list of the frames' files and durations, if the request asks for one.
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

  /// Returns the outputs of a resampled play, including the files that already existed.
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

  /// Returns a description of an output file that already existed and was kept, or nil if the output is not a file.
  private func kept(_ output: ExtractionPlan.Output) -> WrittenFrame? {
    output.path.map {
      WrittenFrame(name: FileName($0), byteCount: FileStatus(at: $0)?.byteCount ?? 0)
    }
  }

  /// Returns the output of each frame, by frame index, including the files that already existed. The output of the
  /// static image has the key nil.
  private func outputs(_ state: State, _ written: [Int: WrittenFrame]) -> [Int?: WrittenFrame] {
    var outputs: [Int?: WrittenFrame] = [:]
    for (place, output) in state.submitted.enumerated() {
      if let frame = written[place] { outputs[output.index] = frame }
    }
    for output in state.kept { outputs[output.index] = kept(output) }
    return outputs
  }
}
