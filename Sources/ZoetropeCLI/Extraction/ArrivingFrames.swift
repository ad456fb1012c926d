import SystemPackage
import Zoetrope
import ZoetropeProcess

/// Supplies the selected frames of a stream, each as soon as its bytes have arrived.
final class ArrivingFrames: FrameSupply {
  private let input: InputFile
  private let request: ExtractRequest
  private let destination: OutputDestination
  private let identities: InputIdentities
  private let stream: StreamedImage
  private let reader: RenderedReader
  /// The reader of stored frames, or nil until a stored frame is needed.
  private var stored: StoredFrameReader?
  private let changes: StreamChanges
  private var names: OutputNames
  /// The start times of the frames that have arrived, for output names.
  private var timeline: PlaybackTimeline
  private var selection: OrderedSelection
  private var nextIndex = 0
  private var directories: Set<FilePath> = []
  /// Whether any frame was selected.
  private var hasOutputs = false

  /// Opens the input, and waits until its canvas is known.
  init(
    of input: InputFile, to destination: OutputDestination, names: OutputNames,
    _ request: ExtractRequest
  ) throws(CommandFailure) {
    (self.input, self.destination, self.names, self.request) = (input, destination, names, request)
    identities = InputIdentities([input])
    stream = try input.openStream(
      request.decodingOptions, isFollowed: request.isFollowing, patience: request.followTimeout)
    try request.rendering?.check(
      canvas: stream.canvasSize, options: request.decodingOptions, file: input.name)
    reader = RenderedReader(stream.origin.base, rendering: request.rendering ?? Rendering())
    changes = StreamChanges(of: stream)
    timeline = PlaybackTimeline([], policy: request.policy)
    selection = OrderedSelection(request.selection, policy: request.policy)
  }

  var arrival: StreamProgress? { stream.progress }

  var image: AnimatedImage? { nil }

  var metadata: AnimationMetadata? { stream.image?.metadata }

  /// Whether the rest of the stream is not needed. A manifest describes the whole file. If no frame was selected, the
  /// error states how long the file is.
  private var isSatisfied: Bool {
    hasOutputs && request.manifest == nil && selection.isExhausted
  }

  func next(isWriting: Bool) -> SuppliedFrame? {
    while !isSatisfied, nextIndex < stream.frameCount, Signals.ending == nil {
      let control = stream.core.frame(nextIndex)
      nextIndex += 1
      timeline.append([control])
      guard selection.takes(control) else { continue }
      hasOutputs = true
      return .output(ExtractionPlan.Output(index: control.index, path: nil))
    }
    if isSatisfied { return nil }
    if isWriting { changes.repeatSoon() }
    return changes.next() == nil ? nil : SuppliedFrame.none
  }

  func frame(at index: Int?) throws(AnimatedImageError) -> CompositedFrame? {
    guard let index else { return nil }
    if request.isRaw {
      if stored == nil { stored = try stream.storedReader() }
      return try stored?.read(stream.core.frame(index))
    }
    return try reader.frame(at: index) { Signals.ending != nil }
  }

  func named(
    _ output: ExtractionPlan.Output
  ) throws(CommandFailure) -> ExtractionPlan.Output {
    guard case .files(let template) = destination, let index = output.index else { return output }
    let starts = [index, index + 1].map {
      OutputTemplate.Values.milliseconds(timeline.startTime($0))
    }
    let path = FilePath(
      bytes: template.name(
        OutputTemplate.Values(
          input: input, index: index, lastIndex: nil,
          timeMilliseconds: starts[0], delayMilliseconds: starts[1] - starts[0],
          fileExtension: request.format.fileExtension)))
    var output = output
    output.path = path
    output.isKept = try request.checkName(
      path, of: input, to: destination, size: request.pictureSize(of: stream.canvasSize),
      names: &names, avoiding: identities)
    let directory = OutputFile.directory(of: path)
    guard !output.isKept, directories.insert(directory).inserted else { return output }
    do throws(WriteFailure) {
      try OutputFile.makeDirectory(directory)
    } catch {
      throw error.commandFailure
    }
    TemporaryFile.sweep(directory)
    return output
  }

  func stop() { stream.cancel() }

  func settle(
    _ failure: CommandFailure?, isWritten: Bool
  ) throws(CommandFailure) -> (image: AnimatedImage, failure: CommandFailure?) {
    let failure =
      failure
      ?? stream.progress.ending?.error.map {
        CommandFailure($0, file: input.name, damage: request.options.damage)
      }
    guard let settled = stream.image else {
      throw failure
        ?? CommandFailure(
          AnimatedImageError(.noFrames, "no frame has arrived"), file: input.name,
          damage: request.options.damage)
    }
    // Selected frames can be reported as missing only if the stream was read to its end.
    guard failure == nil, isWritten, Signals.ending == nil, !isSatisfied else {
      return (settled, failure)
    }
    return (settled, try missing(in: settled))
  }

  /// Checks the selection after the stream has ended. Returns a failure if a frame that is selected by number does not
  /// exist, but other frames were selected.
  ///
  /// - Throws: A usage failure if no existing frame was selected.
  private func missing(in image: AnimatedImage) throws(CommandFailure) -> CommandFailure? {
    var failure: CommandFailure?
    do throws(FrameSelector.MissingFrame) {
      _ = try request.selection.frames?.indices(count: image.frames.count)
    } catch {
      failure = .missing(error, of: input)
    }
    if hasOutputs { return failure }
    throw failure ?? .emptySelection(of: image, input: input, policy: request.policy)
  }
}
