import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The request of one `zoetrope extract` command.
struct ExtractRequest: Hashable {
  var inputs: [InputFile]
  var output = "-"
  var selection = FrameSelection()
  /// The constant frame rate to resample to, or nil to write the frames themselves.
  var rate: PictureRate?
  /// Whether to write stored frames instead of composited ones.
  var isRaw = false
  /// The scaling of the frames, or nil to keep their size.
  var rendering: Rendering?
  var format = ExtractionFormat.png
  /// The compression effort for PNG files.
  var effort = EncodingEffort.balanced
  /// Which pictures of the selected frames are written.
  var choice = PictureChoice.all
  /// The colour behind transparent pixels of a video. It must be opaque.
  var background = RGBA.black
  var staticImage = StaticImageChoice.skip
  var manifest: String?
  /// Whether frames affected by damage are left out.
  var skipsDamaged = false
  /// The policy that determines how long each frame is shown.
  var policy = DelayPolicy.browser
  /// The number of threads. The value 0 means one thread per processor.
  var jobs = 0
  var isForced = false
  var isResuming = false
  /// Whether to read the file until its animation is complete, because another program is still writing the file.
  var isFollowing = false
  /// How long a followed file may stay unchanged before it counts as complete. Nil means forever.
  var followTimeout: Duration?
  var progress = ProgressStyle.auto
  var isQuiet = false
  var cache = CommandCache()
  var options = DecodingOptions()

  /// The options for opening and decoding files.
  var decodingOptions: DecodingOptions {
    var options = options
    // Encoding a PNG takes about ten times as long as decoding its frame, or a few times as long with `fast` effort. A
    // share of the threads is therefore enough for decoding.
    if case .png(let effort) = form {
      let share = effort == .fast ? 4 : 8
      options.parallelism = (threadCount + share - 1) / share
    } else {
      options.parallelism = threadCount
    }
    return options
  }

  /// Returns the size of pictures that show a whole canvas.
  func pictureSize(of canvas: PixelSize) -> PixelSize {
    rendering.map { Rendition($0, of: canvas, options: decodingOptions).size } ?? canvas
  }

  /// The form in which pictures are encoded.
  var form: PictureForm {
    switch format {
    case .png, .ffconcat, .tar: .png(effort)
    case .rgba: .rgba
    case .y4m: .video(background: background)
    }
  }

  /// Whether errors are reported as JSON, because a program reads the progress as JSON.
  var reportsJSON: Bool { progress == .json }
}

extension ExtractRequest {
  /// Extracts the frames of every file. If an input fails, the other inputs are still extracted. If output fails, the
  /// command ends.
  ///
  /// All names are checked before the first frame is written. If an output has the same name as another output, an
  /// input, or a file that must not be replaced, the command ends and writes nothing.
  func run() throws(CommandFailure) -> ExitStatus {
    if isFollowing { try FollowArguments.check(inputs) }
    let destination = try settle(inputs)
    let identities = InputIdentities(inputs)
    let store = cache.open()
    defer { cache.reportFailure(of: store) }
    let progress = ProgressReporter(
      style: isQuiet ? .none : progress, inputs: inputs, writes: true)
    let preparations = try prepare(
      inputs, for: destination, avoiding: identities, keptIn: store, progress)
    guard format == .tar, destination != .standardOutput else {
      return try extract(
        preparations, to: destination, avoiding: identities, keptIn: store, progress)
    }
    // The temporary file of an archive has to be removed even if a signal arrives while an input is being opened.
    return try Signals.whileCaught { () throws(CommandFailure) in
      try extract(preparations, to: destination, avoiding: identities, keptIn: store, progress)
    }
  }

  /// Extracts the frames of the prepared files, and completes the archive and the manifest.
  private func extract(
    _ preparations: [ExtractionPreparation], to destination: OutputDestination,
    avoiding identities: InputIdentities, keptIn store: FrameStore?, _ progress: ProgressReporter
  ) throws(CommandFailure) -> ExitStatus {
    let (stream, archive) = try open(destination)
    var isComplete = false
    defer {
      if !isComplete, let archive { archive.discard() } else if archive == nil { stream.close() }
    }
    if destination.isStream { try identities.check(stream) }
    var manifest = ManifestLines(
      manifest.map { $0 == "-" ? .printed : $0.lowercased().hasSuffix(".csv") ? .table : .lines })
    let status = try extract(
      preparations, to: stream, keptIn: store, manifest: &manifest, progress)
    progress.isCutShort = Self.endsAll(status)
    if let ending = Signals.ending {
      if !isQuiet { progress.summarize() }
      return ending
    }
    // An empty archive is discarded, because the only thing it could do is replace another archive.
    let isEmpty = archive != nil && (try? FileStatus(of: stream.descriptor))?.byteCount == 0
    if format == .tar, !Self.endsAll(status), !isEmpty {
      _ = try Delivery.of { () throws(WriteFailure) in
        try stream.write(TarArchive.end)
        try archive?.finish()
      }
      isComplete = true
    }
    try write(manifest)
    if !isQuiet { progress.summarize() }
    return status
  }

  /// Extracts the frames of the prepared files, in order, and returns the combined status of the files.
  private func extract(
    _ preparations: [ExtractionPreparation], to stream: OutputStream, keptIn store: FrameStore?,
    manifest: inout ManifestLines, _ progress: ProgressReporter
  ) throws(CommandFailure) -> ExitStatus {
    defer { progress.clear() }
    var statuses: [ExitStatus] = []
    for (number, preparation) in preparations.enumerated() {
      progress.begin(number)
      // Writing the manifest or the archive can fail after the input has been counted.
      var isCounted = false
      do throws(CommandFailure) {
        let extraction = try Extraction(
          preparation, request: self, stream: stream, store: store)
        let result = try Signals.whileCaught { () throws(CommandFailure) in
          try extraction.run(progress)
        }
        progress.end(
          result.report.condition, frames: result.report.written.count,
          bytes: result.report.written.reduce(0) { $0 + $1.byteCount })
        isCounted = true
        let gone = result.failure?.status ?? .success
        statuses.append(result.outputIsGone ? gone : result.status)
        // If nobody reads the manifest any more, the frames are still written.
        _ = try manifest.add(result.report)
        // If the reader of the output has gone away, earlier failures still determine the status.
        if format == .tar, result.failure == nil, !result.outputIsGone,
          try add(result.report, as: preparation.archiveKey, to: stream) == .readerGone
        {
          return .combined(statuses)
        }
        if let failure = result.failure {
          failure.report(asJSON: reportsJSON)
          if Self.endsAll(failure.status) { return failure.status }
        }
        if result.outputIsGone { return .combined(statuses) }
      } catch {
        progress.clear()
        error.report(asJSON: reportsJSON)
        if !isCounted { progress.end(InputCondition(error)) }
        if Self.endsAll(error.status) { return error.status }
        statuses.append(error.status)
        _ = try manifest.add(error, of: preparation.input)
      }
    }
    return .combined(statuses)
  }

  /// Adds the report about an input to an archive, after the frames of that input.
  private func add(
    _ report: AnimationReport, as key: [UInt8]?, to archive: OutputStream
  ) throws(CommandFailure) -> Delivery {
    let name = (key ?? []) + Array(".json".utf8)
    let bytes = TarArchive.file(name, CommandRunner.line { report.write(to: &$0) })
    return try Delivery.of { () throws(WriteFailure) in try archive.write(bytes) }
  }

  /// Returns whether a failure with this status also ends the extraction of the remaining files.
  private static func endsAll(_ status: ExitStatus) -> Bool {
    [.cannotWrite, .interrupted, .terminated, .hungUp].contains(status)
  }

  /// Runs the checks for which no input needs to be open.
  private func settle(_ inputs: [InputFile]) throws(CommandFailure) -> OutputDestination {
    let destination = try OutputDestination(
      parsing: RawArguments.bytes(of: output), format: format,
      isDirectory: { OutputFile.isDirectory(FilePath(bytes: $0)) },
      isStream: { OutputStream.isNeeded(for: FilePath(bytes: $0)) })
    if destination == .standardOutput, manifest == "-" {
      throw .usage("the frames and the manifest cannot both go to standard output")
    }
    if destination == .standardOutput { try OutputStream.checkTakesBinary() }
    if destination.isStream, format == .y4m, inputs.count > 1 {
      throw .usage("a stream holds one video; add {stem} to the output name, or name a directory")
    }
    if format == .tar { return try settleArchive(destination) }
    guard case .files(let template) = destination else {
      if format == .ffconcat {
        throw .usage("--format ffconcat writes files; name a directory with -o")
      }
      return destination
    }
    try FileEnding.check(template, format, for: inputs)
    if [.y4m, .ffconcat].contains(format), template.tellsFramesApart {
      throw .usage(
        "--format \(format.rawValue) writes one file for all frames; its name cannot contain {index}, "
          + "{start_ms} or {shown_ms}")
    }
    if format == .ffconcat, template.listedFrames == nil {
      throw .usage("--format ffconcat requires -o with a directory or a name ending in .ffconcat")
    }
    let ending =
      [.y4m, .ffconcat].contains(format) ? ".\(format.rawValue)" : "-{index:04}.{ext}"
    try template.checkNames(of: inputs, example: "DIR/{name}\(ending)")
    return destination
  }

  /// Returns the destination of an archive: a pipe, or a file that is written in order like a pipe and gets its name at
  /// the end.
  private func settleArchive(
    _ destination: OutputDestination
  ) throws(CommandFailure) -> OutputDestination {
    guard case .files(let template) = destination else { return destination }
    guard case .text(let name)? = template.tokens.first, template.tokens.count == 1 else {
      throw .usage("--format tar writes one archive for all files; name a file such as frames.tar")
    }
    let path = FilePath(bytes: name)
    guard path.extension?.lowercased() == "tar" else {
      throw .usage("the output is an archive; name a file that ends in .tar, or - for stdout")
    }
    try InputIdentities(inputs).check(path)
    if !isForced, OutputFile.isTaken(path) { throw WriteFailure.exists("\(path)").commandFailure }
    return .stream(path)
  }

  /// Determines and checks the names of all outputs.
  ///
  /// If there are several files, each file is scanned here and opened again later, because a process may not be able to
  /// keep all of them open. Inputs that can be read only once are kept open.
  private func prepare(
    _ inputs: [InputFile], for destination: OutputDestination,
    avoiding identities: InputIdentities, keptIn store: FrameStore?, _ progress: ProgressReporter
  ) throws(CommandFailure) -> [ExtractionPreparation] {
    var names = OutputNames()
    if let manifest, manifest != "-" {
      let path = try OutputFile.path(ofFile: manifest)
      try identities.check(path)
      try checkManifest(path)
      // If `path` is a link, the manifest replaces the file that it leads to.
      _ = names.insert(FileSystem.followingLinks(path))
    }
    if format == .tar, case .stream(let path) = destination, !OutputStream.isNeeded(for: path),
      !names.insert(FileSystem.followingLinks(path))
    {
      throw .usage(
        "the names of the archive and the manifest conflict; give --manifest another name")
    }
    if isStreamed(to: destination) {
      return inputs.map {
        var preparation = ExtractionPreparation(input: $0, destination: destination)
        preparation.streamedNames = names
        return preparation
      }
    }
    guard case .files = destination else {
      let keys = format == .tar ? try TarArchive.keys(of: inputs) : []
      return try inputs.enumerated().map {
        (number, input) throws(CommandFailure) -> ExtractionPreparation in
        var preparation = ExtractionPreparation(input: input, destination: destination)
        if format == .tar { preparation.archiveKey = keys[number] }
        if isFollowing { try preparation.scan(for: self, knownTo: store) }
        return preparation
      }
    }
    var preparations: [ExtractionPreparation] = []
    for (number, input) in inputs.enumerated() {
      progress.check(number)
      var preparation = ExtractionPreparation(input: input, destination: destination)
      do throws(CommandFailure) {
        try preparation.scan(for: self, knownTo: store)
      } catch {
        preparation.failure = error
        preparations.append(preparation)
        continue
      }
      try preparation.check(names: &names, avoiding: identities, for: self)
      if inputs.count > 1, !input.isReadOnce { preparation.image = nil }
      preparations.append(preparation)
    }
    return preparations
  }

  /// Returns whether each frame is written as soon as its bytes arrive.
  ///
  /// The result is false for several files, because all names are checked before anything is written. It is also false
  /// for options that depend on the end of the file.
  private func isStreamed(to destination: OutputDestination) -> Bool {
    guard inputs.count == 1, isFollowing || inputs[0].isReadOnce,
      rate == nil, !skipsDamaged, format == .png || format == .rgba, staticImage == .skip,
      selection.isDecidedInOrder, options.damage != .strict,
      cache.directory == nil
    else { return false }
    if case .files(let template) = destination { return template.hasIndex }
    return true
  }

  /// Throws if the manifest would replace a file. With `--force`, it may replace any file; with `--resume`, only an
  /// earlier manifest.
  private func checkManifest(_ path: FilePath) throws(CommandFailure) {
    // If `path` is a link, the file that it leads to is replaced, not the link itself.
    let target = isForced || isResuming ? FileSystem.followingLinks(path) : path
    let folder = OutputFile.directory(of: target)
    if OutputFile.isDirectory(folder), !OutputStream.isNeeded(for: path) {
      do throws(Errno) {
        try FileSystem.checkWritable(folder)
      } catch {
        throw WriteFailure.system(error, "\(path)").commandFailure
      }
    }
    guard OutputFile.isTaken(path), !isForced else { return }
    if isResuming, ManifestLines.isManifest(path) { return }
    throw CommandFailure(
      .cannotWrite, code: "exists",
      isResuming
        ? "\(path) exists and is not a manifest; --force replaces it"
        : "\(path) exists; --force replaces it")
  }

  /// Opens the stream for the frames of all files. The stream is opened only once: if a pipe were closed after each
  /// file, its reader would take that for the end.
  ///
  /// If an archive is written to a file, the file gets its final name when the archive is complete.
  private func open(
    _ destination: OutputDestination
  ) throws(CommandFailure) -> (OutputStream, archive: PendingFile?) {
    guard case .stream(let path) = destination else { return (.standardOutput, nil) }
    do throws(WriteFailure) {
      guard format == .tar, !OutputStream.isNeeded(for: path) else {
        return (try OutputStream(path), nil)
      }
      try OutputFile.makeDirectory(OutputFile.directory(of: path))
      TemporaryFile.sweep(OutputFile.directory(of: path))
      let file = try PendingFile(path, isReplacing: isForced, followsLinks: true)
      return (file.stream, file)
    } catch {
      throw error.commandFailure
    }
  }

  private func write(_ lines: ManifestLines) throws(CommandFailure) {
    guard let manifest, manifest != "-", !lines.bytes.isEmpty else { return }
    let path = FilePath(bytes: RawArguments.bytes(of: manifest))
    _ = try Delivery.of { () throws(WriteFailure) in
      try Signals.whileCaught { () throws(WriteFailure) in
        try OutputFile.makeDirectory(OutputFile.directory(of: path))
        try OutputFile.write(
          lines.bytes, to: path, isReplacing: isForced || isResuming, followsLinks: true)
      }
    }
  }

  /// The number of threads to use.
  var threadCount: Int {
    jobs > 0 ? jobs : max(1, min(64, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }
}
