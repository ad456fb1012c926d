import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The extraction of one stream: decodes and writes each frame as soon as its bytes are there.
///
/// Outputs, names and statuses are those of ``FileExtraction``, except that names are checked frame by
/// frame, and that a frame's file has only the metadata that had arrived when the first one was written.
struct StreamExtraction {
  private let input: InputFile
  private let request: ExtractRequest
  private let destination: OutputDestination
  private let stream: OutputStream
  private let names: OutputNames
  private let identities: InputIdentities
  private let image: StreamedImage

  /// Opens the input, and waits until its canvas is known.
  init(
    _ preparation: ExtractionPreparation, names: OutputNames, request: ExtractRequest,
    stream: OutputStream
  ) throws(CommandFailure) {
    input = preparation.input
    destination = preparation.destination
    self.names = names
    self.request = request
    self.stream = stream
    identities = InputIdentities([input])
    image = try input.openStream(
      request.decodingOptions, isFollowed: request.isFollowing, patience: request.followTimeout)
    try request.rendering?.check(
      canvas: image.canvasSize, options: request.decodingOptions, file: input.name)
  }

  /// Writes every selected frame that arrives.
  ///
  /// - Throws: What keeps the input from being extracted at all.
  func run() throws(CommandFailure) -> ExtractionResult {
    var progress = ProgressReporter(style: request.isQuiet ? .none : request.progress)
    var frames = StreamedFrames(
      names: names, timeline: PlaybackTimeline([], policy: request.policy))
    frames.selection = OrderedSelection(request.selection, policy: request.policy)
    frames.sieve = PictureSieve(request.choice)
    let reader = StreamReader(image.core, request.rendering ?? Rendering())
    var stopped: CommandFailure?
    let changes = StreamChanges(of: image)
    arriving: for state in changes {
      while frames.nextIndex < image.frameCount, Signals.ending == nil {
        do throws(CommandFailure) {
          guard try take(&frames, from: reader) else { break arriving }
        } catch {
          stopped = error
          break arriving
        }
        progress.update(frames.progress, of: image.progress)
      }
      // Nobody reads what is still to come.
      if frames.writer?.hasFailed == true { break }
      progress.update(frames.progress, of: state)
      if frames.isWriting { changes.repeatSoon() }
    }
    // Nobody reads the rest.
    image.cancel()
    let (written, writing) = frames.writer?.finish() ?? ([:], nil)
    progress.finish(frames.progress, of: image.progress)
    let ending = image.progress.ending
    let decoding =
      stopped
      ?? ending?.error.map { CommandFailure($0, file: input.name, damage: request.options.damage) }
    guard let settled = image.image else {
      throw decoding
        ?? CommandFailure(
          AnimatedImageError(.noFrames, "no frame has arrived"), file: input.name,
          damage: request.options.damage)
    }
    // Only a stream that was read to its end can lack a frame.
    let missing =
      decoding == nil && writing == nil
      ? try request.selection.failure(
        of: settled, input: input, policy: request.policy, hasOutputs: frames.hasOutputs) : nil
    let tally = written.count + frames.kept.count
    return ExtractionResult(
      report(settled, frames, written), tally: "\(tally) frame\(tally == 1 ? "" : "s")",
      isResumable: !destination.isStream, request: request, writing: writing,
      decoding: decoding ?? missing)
  }

  /// Decodes and submits the next frame, if it is selected; false when output has stopped.
  private func take(
    _ frames: inout StreamedFrames, from reader: StreamReader
  ) throws(CommandFailure) -> Bool {
    let control = image.core.frame(frames.nextIndex)
    let index = control.index
    frames.nextIndex += 1
    frames.timeline.append([control])
    guard frames.selection?.takes(control) ?? true else { return true }
    frames.hasOutputs = true
    // A picture that is left out needs no name. A frame whose file exists is decoded too: only decoding
    // finds all damage.
    guard let frame = try frame(of: index, from: reader, &frames) else { return true }
    let path = try path(of: index, frames: &frames)
    guard frames.kept[index] == nil else { return true }
    let job = FrameJob(place: frames.written.count, bitmap: frame.bitmap, path: path)
    frames.written.append(index)
    let writer = frames.writer ?? makeWriter()
    frames.writer = writer
    do throws(WriteFailure) { try writer.submit(job) } catch { return false }
    return true
  }

  /// Frame `index`, whose damage is noted; nil if it has no pixels, or if its picture is not to be
  /// written.
  private func frame(
    of index: Int, from reader: StreamReader, _ frames: inout StreamedFrames
  ) throws(CommandFailure) -> CompositedFrame? {
    do throws(AnimatedImageError) {
      let found =
        try request.isRaw
        ? reader.storedFrame(at: index) : reader.frame(at: index) { Signals.ending != nil }
      guard let found else { return nil }
      if let damage = found.damage, frames.damage.last != damage { frames.damage.append(damage) }
      return try frames.sieve.takes(found.bitmap, of: index) ? found : nil
    } catch {
      throw CommandFailure(error, file: input.name, damage: request.options.damage)
    }
  }

  /// The checked name of frame `index`, whose directory then exists; nil for a stream.
  private func path(
    of index: Int, frames: inout StreamedFrames
  ) throws(CommandFailure) -> FilePath? {
    guard case .files(let template) = destination else { return nil }
    let starts = [index, index + 1].map {
      OutputTemplate.Values.milliseconds(frames.timeline.startTime($0))
    }
    let path = FilePath(
      bytes: template.name(
        OutputTemplate.Values(
          name: input.fullStem, stem: input.stem, index: index, lastIndex: nil,
          timeMilliseconds: starts[0], delayMilliseconds: starts[1] - starts[0],
          fileExtension: request.format.fileExtension)))
    let isKept = try request.checkName(
      path, of: input, names: &frames.names, avoiding: identities)
    if isKept {
      frames.kept[index] = path
      return path
    }
    let directory = OutputFile.directory(of: path)
    guard frames.directories.insert(directory).inserted else { return path }
    do throws(WriteFailure) {
      try OutputFile.makeDirectory(directory)
    } catch {
      throw error.commandFailure
    }
    TemporaryFile.sweep(directory)
    return path
  }

  private func makeWriter() -> ExtractionWriter {
    ExtractionWriter(
      jobs: request.threadCount,
      context: ExtractionWriter.Context(
        form: request.form, metadata: image.image?.metadata, isReplacing: request.isForced,
        stream: stream))
  }

  private func report(
    _ image: AnimatedImage, _ frames: StreamedFrames, _ written: [Int: WrittenFrame]
  ) -> AnimationReport {
    var outputs: [Int?: WrittenFrame] = [:]
    for (place, index) in frames.written.enumerated() { outputs[index] = written[place] }
    for (index, path) in frames.kept {
      outputs[index] = WrittenFrame(
        name: FileName(path), byteCount: FileStatus(at: path)?.byteCount ?? 0)
    }
    var report = AnimationReport(input: input, image: image, policy: request.policy)
    report.outputs = outputs
    report.showings = request.choice == .all ? nil : frames.sieve.showings
    // Known only now: what the end of the stream told.
    var damage = DecodingDamage(of: image)
    for item in frames.damage { damage.add(item) }
    report.frameDamage = damage.items
    report.outputSize = request.rendering.map {
      Rendition($0, of: image.canvasSize, options: image.options).size
    }
    return report
  }
}

/// The frames of a stream so far, and where they went.
private struct StreamedFrames {
  var names: OutputNames
  /// When frames start, for names.
  var timeline: PlaybackTimeline
  var selection: OrderedSelection?
  var sieve = PictureSieve(.all)
  var nextIndex = 0
  /// Made for the first frame that is written.
  var writer: ExtractionWriter?
  /// The index of the frame at each of the writer's places.
  var written: [Int] = []
  /// The files that `--resume` keeps, by frame.
  var kept: [Int: FilePath] = [:]
  var directories: Set<FilePath> = []
  var damage: [Damage] = []
  /// Whether any frame was selected.
  var hasOutputs = false

  init(names: OutputNames, timeline: PlaybackTimeline) {
    (self.names, self.timeline) = (names, timeline)
  }

  var progress: (frames: Int, bytes: Int?) { writer?.progress ?? (0, 0) }

  /// Whether the writer has frames to finish.
  var isWriting: Bool { progress.frames < written.count }
}

extension FrameSelection {
  /// What is wrong with the selection of a stream that has ended: a frame that is not there.
  ///
  /// - Parameter hasOutputs: Whether it held any frame.
  /// - Throws: The failure if nothing was selected, and so nothing was written.
  fileprivate func failure(
    of image: AnimatedImage, input: InputFile, policy: DelayPolicy, hasOutputs: Bool
  ) throws(CommandFailure) -> CommandFailure? {
    if Signals.ending != nil { return nil }
    var failure: CommandFailure?
    do throws(FrameSelector.MissingFrame) {
      _ = try frames?.indices(count: image.frames.count)
    } catch {
      failure = .missing(error, of: input)
    }
    if failure == nil, !hasOutputs {
      failure = .emptySelection(of: image, input: input, policy: policy)
    }
    if let failure, !hasOutputs { throw failure }
    return failure
  }
}
