import SystemPackage
import Zoetrope
import ZoetropeProcess

/// What to write for one file, and where; determined before any pixel is decoded.
struct ExtractionPlan {
  struct Output: Hashable {
    /// Nil for the static image.
    let index: Int?
    /// Nil for a stream.
    let path: FilePath?
  }

  let outputs: [Output]

  /// - Throws: A usage failure when the selection is empty.
  init(
    image: AnimatedImage, input: InputFile, request: ExtractRequest,
    destination: OutputDestination
  ) throws(CommandFailure) {
    var indices: [Int?] = []
    if request.staticImage != .skip, image.staticImage != nil { indices.append(nil) }
    if let rate = request.rate {
      indices = try Self.pictures(of: image, at: rate, request)
    } else if request.staticImage != .only {
      do throws(FrameSelector.MissingFrame) {
        indices += try request.selection.indices(in: image.frames, policy: request.policy)
      } catch {
        throw .missing(error, of: input)
      }
    }
    guard !indices.isEmpty else {
      guard request.staticImage == .only else {
        throw .emptySelection(of: image, input: input, policy: request.policy)
      }
      var failure = CommandFailure.usage("there is no static image apart from the frames")
      failure.file = input.name
      throw failure
    }
    guard case .files(let template) = destination else {
      outputs = indices.map { Output(index: $0, path: nil) }
      return
    }
    let starts = image.startTimes(policy: request.policy)
      .map(OutputTemplate.Values.milliseconds)
    var outputs: [Output] = []
    for (number, index) in indices.enumerated() {
      var values = OutputTemplate.Values(
        name: input.fullStem, stem: input.stem, index: index, starts: starts,
        fileExtension: request.format.rawValue)
      if let rate = request.rate {
        values.index = number
        values.timeMilliseconds = OutputTemplate.Values.milliseconds(
          rate.time(ofPicture: number))
        values.delayMilliseconds = OutputTemplate.Values.milliseconds(rate.time(ofPicture: 1))
      }
      outputs.append(Output(index: index, path: FilePath(bytes: template.name(values))))
    }
    self.outputs = outputs
  }

  /// The frame shown at each sample time of a play.
  private static func pictures(
    of image: AnimatedImage, at rate: PictureRate, _ request: ExtractRequest
  ) throws(CommandFailure) -> [Int] {
    let durations = image.frames.map { request.policy.shownDuration(of: $0.delay) }
    if let frames = rate.frames(shownFor: durations, maximum: request.selection.maximum) {
      return frames
    }
    throw .usage("--fps gives more than \(PictureRate.mostPictures) pictures; --max limits them")
  }

  /// The directories that outputs go to.
  var directories: Set<FilePath> {
    Set(outputs.compactMap { $0.path.map(OutputFile.directory(of:)) })
  }
}

extension CommandFailure {
  /// A frame was asked for by its number, and `input` does not have it.
  static func missing(
    _ frame: FrameSelector.MissingFrame, of input: InputFile
  ) -> CommandFailure {
    var failure = CommandFailure.usage(
      "there is no frame \(frame.number), the frames are 0 to \(frame.count - 1)")
    failure.file = input.name
    return failure
  }

  /// The frames and times asked for have nothing in common with those of `image`.
  static func emptySelection(
    of image: AnimatedImage, input: InputFile, policy: DelayPolicy
  ) -> CommandFailure {
    var failure = CommandFailure.usage(
      "the selection holds no frame; there are \(image.frames.count), and a play lasts "
        + "\(Decimal(image.duration(policy: policy))) ms with \(policy) timing")
    failure.file = input.name
    return failure
  }
}

/// An input of `extract` before anything is written.
struct ExtractionPreparation {
  let input: InputFile
  let destination: OutputDestination
  /// Nil before the file is opened, and if it is to be opened again later.
  var image: AnimatedImage?
  /// Nil for a stream, whose outputs are determined when the file is opened.
  var plan: ExtractionPlan?
  /// Whether each output of the plan exists and is kept.
  var isFinished: [Bool] = []
  /// Why the file cannot be extracted; reported when its turn comes.
  var failure: CommandFailure?
  /// The names that are taken, if the frames are written while the bytes arrive.
  var streamedNames: OutputNames?

  init(input: InputFile, destination: OutputDestination) {
    (self.input, self.destination) = (input, destination)
  }

  /// Opens the file and determines the names of its outputs.
  mutating func scan(
    for request: ExtractRequest, knownTo store: FrameStore?
  ) throws(CommandFailure) {
    let image =
      try request.isFollowing
      ? input.openFollowed(request.decodingOptions)
      : input.open(request.decodingOptions, knownTo: store)
    self.image = image
    let plan = try ExtractionPlan(
      image: image, input: input, request: request, destination: destination)
    self.plan = plan
    isFinished = plan.outputs.map { _ in false }
  }

  /// Refuses names that are taken by another output, by an input, or by a file that must stay.
  mutating func check(
    names: inout OutputNames, avoiding identities: InputIdentities, for request: ExtractRequest
  ) throws(CommandFailure) {
    guard let plan else { return }
    for (number, output) in plan.outputs.enumerated() {
      guard let path = output.path else { continue }
      isFinished[number] = try request.checkName(
        path, of: input, names: &names, avoiding: identities)
    }
  }
}

extension ExtractRequest {
  /// Refuses a name that is taken by another output, by an input, or by a file that must stay.
  ///
  /// - Returns: Whether the file is there, and is kept.
  func checkName(
    _ path: FilePath, of input: InputFile, names: inout OutputNames,
    avoiding identities: InputIdentities
  ) throws(CommandFailure) -> Bool {
    guard names.insert(path) else {
      throw .usage(
        files.count > 1
          ? "two outputs would be called \(path); put a mark between {stem} and {index} in the "
            + "output name, or extract the files to different directories"
          : "two outputs would be called \(path); put {index} into the output name")
    }
    try identities.check(path)
    guard !isForced, OutputFile.isTaken(path) else { return false }
    guard isResuming else {
      throw CommandFailure(
        .cannotWrite, code: "exists",
        "\(path) exists; --force replaces it, --resume keeps it and goes on")
    }
    // A frame older than the input cannot be one of its frames, unless the input still grows.
    if !isFollowing, let source = input.path, OutputFile.isOlder(path, than: source) {
      throw CommandFailure(
        .cannotWrite, code: "stale",
        "\(path) is older than \(input.name); --force writes all frames anew", file: input.name)
    }
    return true
  }
}
