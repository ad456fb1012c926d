import SystemPackage
import Zoetrope
import ZoetropeProcess

/// An input of `extract` before anything is written.
struct ExtractionPreparation {
  let input: InputFile
  let destination: OutputDestination
  /// Nil before the file is opened, and if it is to be opened again later.
  var image: AnimatedImage?
  /// Nil for a stream, whose outputs are determined when the file is opened.
  var plan: ExtractionPlan?
  /// Why the file cannot be extracted; reported in order.
  var failure: CommandFailure?
  /// The names already taken, if frames are written while bytes arrive.
  var streamedNames: OutputNames?
  /// What the names of its files in an archive begin with.
  var archiveKey: [UInt8]?

  init(input: InputFile, destination: OutputDestination) {
    (self.input, self.destination) = (input, destination)
  }

  /// Opens the file and determines the names of its outputs.
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

  /// Rejects names that are taken by another output, an input, or a file that must be kept.
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
        path, of: input, names: &names, avoiding: identities)
    }
    self.plan = plan
  }
}

extension ExtractRequest {
  /// Like ``checkName(_:of:names:avoiding:)``, for a video or a list of frames. With `--resume` a list is
  /// rewritten.
  fileprivate func checkWhole(
    _ path: FilePath, names: inout OutputNames, avoiding identities: InputIdentities
  ) throws(CommandFailure) {
    guard names.insert(path) else {
      throw .usage("two outputs would be called \(path); add {stem} or {name} to the output name")
    }
    try identities.check(path)
    guard !isForced, OutputFile.isTaken(path) else { return }
    if isResuming, ConcatList.isList(path) { return }
    throw CommandFailure(
      .cannotWrite, code: "exists",
      "\(path) exists\(isResuming ? " and is not a list of frames" : ""); --force replaces it"
        + (format == .ffconcat && !isResuming ? ", --resume keeps the frames and rewrites it" : ""))
  }

  /// Rejects a name that another output has taken, that is an input's, or whose file exists and must not be replaced.
  ///
  /// - Returns: Whether the file exists and stays as it is.
  func checkName(
    _ path: FilePath, of input: InputFile, names: inout OutputNames,
    avoiding identities: InputIdentities
  ) throws(CommandFailure) -> Bool {
    guard names.insert(path) else {
      throw .usage(
        inputs.count > 1
          ? "two outputs would be called \(path); separate {stem} and {index} in the output name, "
            + "or add {dir}"
          : "two outputs would be called \(path); add {index} to the output name")
    }
    try identities.check(path)
    guard !isForced, OutputFile.isTaken(path) else { return false }
    guard isResuming else {
      throw CommandFailure(
        .cannotWrite, code: "exists",
        "\(path) exists; --force replaces it, --resume keeps it and continues")
    }
    try input.checkKept(path, isGrowing: isFollowing)
    return true
  }
}

extension InputFile {
  /// Rejects the existing file at `path` if an earlier run cannot have completed it from this input.
  ///
  /// - Parameter isGrowing: Whether the input is still being written.
  func checkKept(_ path: FilePath, isGrowing: Bool = false) throws(CommandFailure) {
    guard let status = FileStatus(at: path), status.isRegular else {
      throw CommandFailure(
        .cannotWrite, code: "exists", "\(path) exists and is not a file", file: name)
    }
    // An output is never empty. Either another program has just created this one, or the disk was full.
    if status.byteCount == 0 {
      throw CommandFailure(
        .cannotWrite, code: "stale", "\(path) is empty; --force replaces all files", file: name)
    }
    // A file older than the input cannot come from it, unless the input is still growing.
    if !isGrowing, let source = self.path, OutputFile.isOlder(path, than: source) {
      throw CommandFailure(
        .cannotWrite, code: "stale",
        "\(path) is older than \(name); --force replaces all files", file: name)
    }
  }
}
