import SystemPackage
import Zoetrope

/// What is to be written for one file, and where: settled before the first pixel is decoded.
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
        var failure = CommandFailure.usage(
          "there is no frame \(error.number), the frames are 0 to \(error.count - 1)")
        failure.file = input.name
        throw failure
      }
    }
    guard !indices.isEmpty else {
      var failure = CommandFailure.usage(
        request.staticImage == .only
          ? "there is no static image apart from the frames"
          : "the selection holds no frame; there are \(image.frames.count), and a play lasts "
            + "\(Decimal(image.duration(policy: request.policy))) ms with \(request.policy) timing")
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

  /// The frames of one play by the clock: what is sampled is what is seen.
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
