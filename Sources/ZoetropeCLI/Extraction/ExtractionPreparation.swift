import SystemPackage
import Zoetrope
import ZoetropeProcess

/// An input of `extract` with what is known about it before anything is written.
struct ExtractionPreparation {
  let input: InputFile
  let destination: OutputDestination
  /// The image. Nil before the file is opened, and for a file that was closed and will be opened again.
  var image: AnimatedImage?
  /// The plan of the outputs. Nil if the frames go to one stream or are written as they arrive, because the outputs are
  /// then determined when the extraction starts.
  var plan: ExtractionPlan?
  /// The reason why the file cannot be extracted, which is reported when the file's turn comes. Nil if there is none.
  var failure: CommandFailure?
  /// The output names that are already taken, if frames are written while their bytes arrive. Nil otherwise.
  var streamedNames: OutputNames?
  /// The text with which the names of this input's entries in an archive begin. Nil if the output is not an archive.
  var archiveKey: [UInt8]?

  /// Opens the file and plans its outputs.
  mutating func scan(
    for request: ExtractRequest, knownTo store: FrameStore?
  ) throws(CommandFailure) {
    let image =
      try request.isFollowing
      ? input.openFollowed(request.decodingOptions, patience: request.followTimeout)
      : input.open(request.decodingOptions, knownTo: store)
    self.image = image
    plan = try ExtractionPlan(
      image: image, input: input, request: request, destination: destination, archiveKey: archiveKey
    )
  }

  /// Throws if an output has the same path as another output, an input, or a file that must be kept.
  mutating func check(
    names: inout OutputNames, avoiding identities: InputIdentities, for request: ExtractRequest
  ) throws(CommandFailure) {
    guard var plan else { return }
    if let whole = plan.whole {
      try request.checkWhole(whole, names: &names, avoiding: identities)
    }
    for (number, output) in plan.outputs.enumerated() {
      guard let path = output.path else { continue }
      plan.outputs[number].isKept = try request.checkName(
        path, of: input, to: destination, size: plan.pictureSize, names: &names,
        avoiding: identities)
    }
    self.plan = plan
  }
}

extension ExtractRequest {
  /// Does what ``checkName(_:of:to:size:names:avoiding:)`` does, for the path of a video or of a list of frames.
  /// With `--resume`, an existing list may be replaced.
  fileprivate func checkWhole(
    _ path: FilePath, names: inout OutputNames, avoiding identities: InputIdentities
  ) throws(CommandFailure) {
    // If the user named a link, the file that it leads to is replaced.
    let target = isForced ? FileSystem.followingLinks(path) : path
    guard names.insert(target) else {
      throw collision(at: target, advice: "add {stem} or {name} to the output name")
    }
    try identities.check(path)
    guard !isForced, OutputFile.isTaken(path) else { return }
    if isResuming, ConcatList.isList(path) { return }
    throw CommandFailure(
      .cannotWrite, code: "exists",
      "\(path) exists\(isResuming ? " and is not a list of frames" : ""); --force replaces it"
        + (format == .ffconcat && !isResuming
          ? "; --resume keeps the frames and rewrites the list" : ""))
  }

  /// Returns the failure for an output whose path, `path`, is also that of another output, or conflicts with it.
  ///
  /// - Parameter advice: How to choose different names, unless the other output is the manifest.
  private func collision(at path: FilePath, advice: String) -> CommandFailure {
    if let manifest, manifest != "-" {
      var names = OutputNames()
      let place = FilePath(bytes: RawArguments.bytes(of: manifest))
      _ = names.insert(FileSystem.followingLinks(place))
      guard names.insert(path) else {
        return .usage(
          "the names of \(path) and the manifest conflict; give --manifest another name")
      }
    }
    return .usage("two outputs would be called \(path); \(advice)")
  }

  /// Throws if `path` is also the path of another output, an input, or an existing file that must not be replaced.
  ///
  /// - Parameter size: The size of pictures that show the whole canvas.
  /// - Returns: Whether the file exists and stays as it is.
  func checkName(
    _ path: FilePath, of input: InputFile, to destination: OutputDestination, size: PixelSize,
    names: inout OutputNames, avoiding identities: InputIdentities
  ) throws(CommandFailure) -> Bool {
    guard names.insert(path) else {
      let hasIndex =
        if case .files(let template) = destination { template.hasIndex } else { false }
      throw collision(
        at: path,
        advice: hasIndex
          ? "separate the fields of the output name, as in {stem}-{index}"
          : "add {index} to the output name")
    }
    try identities.check(path)
    guard !isForced, OutputFile.isTaken(path) else { return false }
    guard isResuming else {
      throw CommandFailure(
        .cannotWrite, code: "exists",
        "\(path) exists; --force replaces it; --resume keeps it and continues")
    }
    try input.checkKept(path, isGrowing: isFollowing)
    switch form {
    case .png: try checkKeptPicture(path, of: input, size: size)
    case .rgba where !isRaw:
      let byteCount = FileStatus(at: path)?.byteCount ?? 0
      let expected = options.canvasFormat.bytesPerPixel * size.area
      guard byteCount == expected else {
        throw .stale(
          "\(path) has \(byteCount.grouped) bytes, but the frames would now have "
            + "\(expected.grouped)", input)
      }
    case .rgba, .video: break
    }
    return true
  }

  /// Throws unless the file at `path` is a complete PNG file of `size`, which an earlier run may have written with the
  /// same options.
  private func checkKeptPicture(
    _ path: FilePath, of input: InputFile, size: PixelSize
  ) throws(CommandFailure) {
    let image: AnimatedImage?
    do throws(AnimatedImageError) {
      image = try AnimatedImage(contentsOf: path, options: decodingOptions)
    } catch {
      guard error.code != .io else {
        throw CommandFailure(.cannotWrite, code: "io", error.detail, file: input.name)
      }
      image = nil
    }
    guard let image, image.format == .png,
      image.damage.allSatisfy({ $0.kind == .trailingData })
    else {
      throw .stale("\(path) is not a complete PNG file", input)
    }
    guard isRaw || image.canvasSize == size else {
      throw .stale(
        "\(path) has \(image.canvasSize) pixels, but the frames would now have \(size)", input)
    }
  }
}

extension InputFile {
  /// Throws unless the file at `path` can be a complete file that an earlier run wrote from this input.
  ///
  /// - Parameter isGrowing: Whether another program may still be writing the input.
  func checkKept(_ path: FilePath, isGrowing: Bool = false) throws(CommandFailure) {
    guard let status = FileStatus(at: path), status.isRegular else {
      throw CommandFailure(
        .cannotWrite, code: "exists", "\(path) exists and is not a file", file: name)
    }
    // An output is never empty. Either another program has just created this file, or the disk was full.
    if status.byteCount == 0 { throw .stale("\(path) is empty", self) }
    // A file that is older than the input cannot come from it, unless the input is still growing.
    if !isGrowing, let source = self.path, OutputFile.isOlder(path, than: source) {
      throw .stale("\(path) is older than \(name)", self)
    }
  }
}

extension CommandFailure {
  /// Returns the failure for an existing file that an earlier run cannot have written from `input` with these options.
  fileprivate static func stale(_ reason: String, _ input: InputFile) -> CommandFailure {
    CommandFailure(
      .cannotWrite, code: "stale", "\(reason); --force replaces all files", file: input.name)
  }
}
