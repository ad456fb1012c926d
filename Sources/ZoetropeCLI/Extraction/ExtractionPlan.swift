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

  /// - Throws: A usage failure when the selection is empty or two frames would have one name.
  init(
    image: AnimatedImage, input: InputFile, request: ExtractRequest,
    destination: OutputDestination
  ) throws(CommandFailure) {
    var indices: [Int?] = []
    if request.staticImage != .skip, image.staticImage != nil { indices.append(nil) }
    if let rate = request.rate {
      indices = try Self.pictures(of: image, at: rate, maximum: request.selection.maximum)
    } else if request.staticImage != .only {
      do throws(FrameSelector.MissingFrame) {
        indices += try request.selection.indices(in: image.frames)
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
            + "\(image.frames.storedDuration) ms with the stored delays")
      failure.file = input.name
      throw failure
    }
    guard case .files(let template) = destination else {
      outputs = indices.map { Output(index: $0, path: nil) }
      return
    }
    var starts: [Int] = []
    var now = Decimal(thousandths: 0)
    for frame in image.frames {
      starts.append(now.thousandths / 1000)
      now += Decimal(frame.delay)
    }
    var seen: Set<FilePath> = []
    var outputs: [Output] = []
    for (number, index) in indices.enumerated() {
      var values = OutputTemplate.Values(
        name: input.fullStem, stem: input.stem, index: index,
        timeMilliseconds: index.map { starts[$0] } ?? 0,
        delayMilliseconds: index.map { image.frames[$0].delay.milliseconds } ?? 0,
        fileExtension: request.format.rawValue)
      if let rate = request.rate {
        values.index = number
        values.timeMilliseconds = Decimal(rate.time(ofPicture: number)).thousandths / 1000
        values.delayMilliseconds = Decimal(rate.time(ofPicture: 1)).thousandths / 1000
      }
      let path = FilePath(bytes: template.name(values))
      guard seen.insert(path).inserted else {
        throw .usage("two frames would be called \(path); put {index} into the output name")
      }
      outputs.append(Output(index: index, path: path))
    }
    self.outputs = outputs
  }

  /// The frames of one play by the clock, as browsers time it: what is sampled is what is seen.
  private static func pictures(
    of image: AnimatedImage, at rate: PictureRate, maximum: Int
  ) throws(CommandFailure) -> [Int] {
    let durations = image.frames.map { DelayPolicy.browser.shownDuration(of: $0.delay) }
    if let frames = rate.frames(shownFor: durations, maximum: maximum) { return frames }
    throw .usage("--fps gives more than \(PictureRate.mostPictures) pictures; --max limits them")
  }

  /// The directories that outputs go to.
  var directories: Set<FilePath> {
    Set(outputs.compactMap { $0.path.map(OutputFile.directory(of:)) })
  }
}
