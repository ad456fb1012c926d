import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The plan of the outputs for one file: which frames are written, and where. It is made before any pixel is decoded.
struct ExtractionPlan {
  struct Output: Hashable {
    /// The index of the frame, or nil for the static image.
    let index: Int?
    /// The path of the frame's own file. Nil if the frame goes to a stream or to a file that contains all frames.
    var path: FilePath?
    /// The number of the picture in a resampled play, or nil without resampling.
    var picture: Int?
    /// The name of the frame's file in an archive, or nil if the output is not an archive.
    var entry: [UInt8]?
    /// How many times in a row the frame is written to a stream.
    var repeats = 1
    /// Whether the file already exists and is kept.
    var isKept = false
  }

  var outputs: [Output]
  /// The size of the pictures if they show the whole canvas. Stored frames may be smaller.
  let pictureSize: PixelSize
  /// The single file that contains all frames or accompanies their files: a video or a list of frames. Nil if there is
  /// no such file.
  private(set) var whole: FilePath?
  /// The frame rate of a video, or nil if the output is not a video.
  private(set) var rate: PictureRate?

  /// Makes the plan for `image`.
  ///
  /// - Throws: A usage failure if the selection is empty or contains a frame that does not exist, or if the frames
  ///   cannot become the requested output; a failure with the status ``ExitStatus/limit`` if a video would be too
  ///   large.
  init(
    image: AnimatedImage, input: InputFile, request: ExtractRequest,
    destination: OutputDestination, archiveKey: [UInt8]? = nil
  ) throws(CommandFailure) {
    var indices: [Int?] = []
    if let rate = request.rate {
      indices = try Self.pictures(of: image, at: rate, request)
    } else if request.staticImage != .only {
      do throws(FrameSelector.MissingFrame) {
        indices = try request.selection.indices(in: image.frames, policy: request.policy)
      } catch {
        throw .missing(error, of: input)
      }
    }
    // The static image is not among the frames that are selected from.
    guard !indices.isEmpty || request.staticImage == .only else {
      throw .emptySelection(of: image, input: input, policy: request.policy)
    }
    if request.rate == nil, request.staticImage != .skip, image.staticImage != nil {
      indices.insert(nil, at: 0)
    }
    guard !indices.isEmpty else {
      throw .usage("the file has no static image that is not a frame", file: input.name)
    }
    outputs = indices.map { Output(index: $0, path: nil) }
    if request.rate != nil { for number in indices.indices { outputs[number].picture = number } }
    if let archiveKey {
      for number in indices.indices {
        outputs[number].entry = TarArchive.name(
          archiveKey, request.rate == nil ? indices[number] : number)
      }
    }
    pictureSize = request.pictureSize(of: image.canvasSize)
    if request.format == .y4m { try settleVideo(of: image, input: input, request) }
    guard case .files(let template) = destination else { return }
    let starts = image.startTimes(policy: request.policy)
      .map(OutputTemplate.Values.milliseconds)
    var values = OutputTemplate.Values(
      input, index: nil, lastIndex: image.frames.count - 1,
      starts: starts, fileExtension: request.format.fileExtension)
    var names = template
    if let frames = request.format == .ffconcat ? template.listedFrames : nil {
      let list = template.name(values)
      guard !list.contains(0x0a) else {
        throw .usage("a list of frames cannot contain names with line breaks")
      }
      whole = FilePath(bytes: list)
      names = frames
    } else if request.format == .y4m {
      whole = FilePath(bytes: template.name(values))
      return
    }
    if request.rate != nil { values.lastIndex = indices.count - 1 }
    for (number, index) in indices.enumerated() {
      values.setFrame(index, starts: starts)
      if let rate = request.rate {
        values.index = number
        values.timeMilliseconds = OutputTemplate.Values.milliseconds(
          rate.time(ofPicture: number))
        values.delayMilliseconds = OutputTemplate.Values.milliseconds(
          rate.duration(ofPictures: 1))
      }
      outputs[number].path = FilePath(bytes: names.name(values))
    }
  }

  /// Returns the index of the frame that is shown at each sample time of a play, or of the selected part of it.
  private static func pictures(
    of image: AnimatedImage, at rate: PictureRate, _ request: ExtractRequest
  ) throws(CommandFailure) -> [Int] {
    let durations = image.frames.map { request.policy.shownDuration(of: $0.delay) }
    let timeline = PlaybackTimeline(image.frames, policy: request.policy)
    // The ends of the range may be copied from a report, which rounds the times at which frames start.
    func exact(_ time: Duration) -> Duration {
      let boundary = (0...durations.count).first { timeline.printedStart($0) == time }
      return boundary.map { durations[..<$0].reduce(Duration.zero, +) } ?? time
    }
    var rate = rate
    rate.start = exact(rate.start)
    if let frames = rate.frames(
      shownFor: durations, until: request.selection.time?.end.map(exact),
      maximum: request.selection.maximum)
    {
      return frames
    }
    throw .usage(
      "--fps gives more than \(PictureRate.mostPictures) pictures; limit them with --max")
  }

  /// Determines the rate of a video, and how many times each frame is repeated. The rate is ``ExtractRequest/rate``, or
  /// else one at which every frame is shown for exactly its duration.
  private mutating func settleVideo(
    of image: AnimatedImage, input: InputFile, _ request: ExtractRequest
  ) throws(CommandFailure) {
    if let rate = request.rate {
      self.rate = rate
      var runs: [Output] = []
      for output in outputs {
        if runs.last?.index == output.index {
          runs[runs.count - 1].repeats += 1
        } else {
          runs.append(output)
        }
      }
      outputs = runs
      return try checkVideo(of: input, request)
    }
    let delays = outputs.compactMap { $0.index.map { image.frames[$0].delay } }
    let reason: String
    if let (rate, counts) = PictureRate.common(of: delays, policy: request.policy) {
      var total = 0
      for count in counts {
        total = total.addingReportingOverflow(count).overflow ? .max : total + count
      }
      if total <= PictureRate.mostPictures {
        self.rate = rate
        outputs = zip(outputs, counts).compactMap { output, count in
          count > 0 ? Output(index: output.index, path: nil, repeats: count) : nil
        }
        return try checkVideo(of: input, request)
      }
      reason =
        "exact delays need \(total) pictures, but the limit is \(PictureRate.mostPictures); choose another "
        + "rate with --fps"
    } else if delays.allSatisfy({ request.policy.shownDuration(of: $0) == .zero }) {
      reason = "every frame is shown for 0 ms with \(request.policy) timing"
    } else {
      reason = "no constant frame rate up to 1000 fits the delays exactly; choose one with --fps"
    }
    throw .usage(reason, file: input.name)
  }

  /// The maximum number of bytes in the planes of a video. `--limits none` removes this limit.
  static let mostVideoBytes = 64 << 30

  /// Throws if the video would have more than ``mostVideoBytes``. A small file with long delays can be the cause.
  private func checkVideo(
    of input: InputFile, _ request: ExtractRequest
  ) throws(CommandFailure) {
    guard request.options.limits != .none else { return }
    // There are at most a million pictures, so the sum does not overflow.
    let count = outputs.reduce(0) { $0 + $1.repeats }
    let bytes = pictureSize.area.multipliedReportingOverflow(by: 3 * count)
    guard bytes.overflow || bytes.partialValue > Self.mostVideoBytes else { return }
    throw CommandFailure(
      .limit, code: "limitExceeded",
      "the video would have \(count) pictures of \(pictureSize), but the limit is "
        + "\(Self.mostVideoBytes) bytes; lower --fps, or pass --size, --max or --limits none",
      file: input.name)
  }

  /// The directories that contain the outputs.
  var directories: Set<FilePath> {
    Set((outputs.map(\.path) + [whole]).compactMap { $0.map(OutputFile.directory(of:)) })
  }
}

extension CommandFailure {
  /// Returns the failure for a frame number that does not exist in `input`.
  static func missing(
    _ frame: FrameSelector.MissingFrame, of input: InputFile
  ) -> CommandFailure {
    .usage(
      "frame \(frame.number) does not exist; "
        + (frame.count == 1 ? "there is 1 frame" : "there are \(frame.count) frames"),
      file: input.name)
  }

  /// Returns the failure for a selection that matches no frame of `image`.
  static func emptySelection(
    of image: AnimatedImage, input: InputFile, policy: DelayPolicy
  ) -> CommandFailure {
    .usage(
      (image.frames.count == 1
        ? "the selection does not match the only frame"
        : "the selection matches none of the \(image.frames.count) frames")
        + "; a play takes \(Decimal(image.duration(policy: policy))) ms with \(policy) timing",
      file: input.name)
  }
}
