import ArgumentParser
import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The command `zoetrope info`.
struct InfoCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show size, frames, plays, delays and metadata.",
    usage: "zoetrope info [options] <files> ...",
    discussion: """
      --json prints one line of JSON per file, in order, as soon as a file is done (schema \
      zoetrope.animation/3). If a file cannot be read, its object has only the fields that name \
      the schema and the file, a "status" and an "error" with "code", "message", "byte_offset" and \
      "frame". "plays" is null when "forever" is true; "delay" is the stored delay as a fraction \
      of a second; "start_ms" and "shown_ms" follow --timing; "file_base64" is present if the file \
      name is not valid UTF-8.

      --follow keeps reading a file while it is being written, until its animation is complete. \
      With --follow and --json, the command prints an object (schema zoetrope.arrival/2) whenever \
      frames arrive, and then the report. With --follow, or if the input is a pipe, progress is \
      shown on standard error if that is a terminal. Ctrl-C prints what is known so far.

      --hashes decodes every frame and adds a hash of its composited pixels. It is the hash that \
      xxh128sum prints (XXH3-128 with seed 0) for the bytes that extract --format rgba writes. The \
      same pixels have the same hash in every version of zoetrope. In JSON, the hash is the field \
      "hash" of a frame.

      --timing all shows each delay under every named policy. In JSON, each frame and \
      "duration_ms" then have a field "by_policy"; all other times use browser timing.

      --save-index writes an index of the file, which says where each frame is. With it, programs \
      that read the file remotely (RemoteImage) can fetch only the bytes of the frames that they \
      need. An existing index is replaced. Any other existing file is kept, and the command fails.

      --format prints names byte for byte, unless it prints to a terminal. A name can contain a \
      line break, so use --json if the names may come from anywhere.

      If a directory is given, the GIF and PNG files in it are read. With -r, those in its \
      subdirectories are read too.

      If several files are given and their statuses differ, the exit status is 1.

      EXAMPLES:
        zoetrope info party.gif --frames
        zoetrope info --json *.png
        zoetrope info *.gif --format '{file} {frames} {duration_ms}'
        zoetrope info --save-index film.index film.png
      """)

  @Argument(help: .files, completion: .animations)
  var files: [String] = []

  @OptionGroup(title: "Files") var listing: FileArguments

  @OptionGroup(title: "Report") var wanted: ReportArguments

  @OptionGroup(title: "Reading") var following: FollowArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  /// The options that determine what is reported, and in which form.
  struct ReportArguments: ParsableArguments {
    @Flag(help: .json)
    var json = false

    @Option(
      help: ArgumentHelp(
        """
        Print a line per file. The fields are {file} {frames} {duration_ms} {format} {width} {height} \
        {plays} {byte_count} {damage} {stored_duration_ms} {least_delay_ms} {longest_delay_ms}; \
        \\t and \\n work.
        """,
        valueName: "template"),
      transform: Self.template)
    var format: InfoTemplate?

    @Flag(help: "List every frame.")
    var frames = false

    @Flag(help: "List comments, text, colour and application blocks.")
    var metadata = false

    @Flag(help: "List a hash of each frame's pixels; this decodes all frames.")
    var hashes = false

    @Option(help: .timing)
    var timing = InfoTimingArgument(policy: .browser)

    @Option(
      help: .init("Write the index of one file to this path.", valueName: "path"),
      completion: .file())
    var saveIndex: String?

    func validate() throws {
      guard format == nil || !(json || frames || metadata || hashes || timing.isAll) else {
        throw ValidationError(
          "--format cannot be combined with --json, --frames, --metadata, --hashes or --timing all")
      }
      if saveIndex == "" { throw ValidationError("the name of the index is empty") }
      // The report already goes to standard output, so the index cannot go there.
      if saveIndex.map(OutputStream.canonicalName) == "-" {
        throw ValidationError("--save-index requires a file")
      }
    }

    private static func template(_ text: String) throws -> InfoTemplate {
      if let template = InfoTemplate(text) { return template }
      let fields = InfoTemplate.Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
      throw ValidationError(
        "unknown field or unpaired brace in --format; it may contain \(fields), {{, }}, \\t, \\n "
          + "and \\\\")
    }
  }

  func validate() throws {
    try following.check(files)
    try listing.check(files)
    guard wanted.saveIndex != nil else { return }
    if files.count != 1 { throw ValidationError(Self.indexConflict) }
    if following.follow { throw ValidationError("--save-index cannot be combined with --follow") }
  }

  private static let indexConflict = "--save-index works with one file only"

  /// Prints a report or an error for each file, in order, as soon as the file has been processed.
  func execute() throws(CommandFailure) -> ExitStatus {
    let inputs = try listing.inputs(files)
    if following.follow { try FollowArguments.check(inputs) }
    if wanted.saveIndex != nil, inputs.count != 1 { throw .usage(Self.indexConflict) }
    if inputs.count == 1 {
      let input = inputs[0]
      // If there is no terminal that could show progress, the whole input is read first, so that bytes after the
      // animation are reported too.
      if following.follow
        || wanted.saveIndex == nil && input.isReadOnce && isatty(STDERR_FILENO) == 1
      {
        return reportArrival(of: input)
      }
    }
    let (options, policy, json) = (reading.options, wanted.timing.policy, wanted.json)
    return CommandRunner.forEach(
      inputs, asJSON: json, schema: AnimationReport.schema, isBrief: !wanted.hashes
    ) { (input, progress) throws(CommandFailure) in
      let indexPath = wanted.saveIndex.map { FilePath(bytes: RawArguments.bytes(of: $0)) }
      if let indexPath { try InputIdentities([input]).check(indexPath) }
      let image = try input.open(options)
      if let indexPath { try Self.save(ImageIndex(of: image), to: indexPath) }
      var report = AnimationReport(input: input, image: image, policy: policy)
      try complete(&report, progress)
      return InputOutcome(
        status: report.hasDecodingLosses ? .partial : .success, output: output(report),
        condition: InputCondition(hasLosses: report.hasLosses), frameCount: image.frames.count)
    }
  }

  /// Adds the requested facts that the scan does not provide. Hashes require decoding every frame.
  private func complete(
    _ report: inout AnimationReport, _ progress: ProgressReporter
  ) throws(CommandFailure) {
    if wanted.timing.isAll { report.policies = NamedPolicy.all }
    guard wanted.hashes else { return }
    report = try Signals.whileCaught { [report] () throws(CommandFailure) in
      try report.withHashes(progress)
    }
  }

  /// Returns the report in the requested form.
  private func output(_ report: AnimationReport) -> [UInt8] {
    if let format = wanted.format {
      return format.line(report, isForTerminal: isatty(STDOUT_FILENO) == 1)
    }
    if wanted.json { return CommandRunner.line { report.write(to: &$0) } }
    return Array(
      report.text(
        showsFrames: wanted.frames || wanted.hashes || wanted.timing.isAll,
        showsMetadata: wanted.metadata
      ).utf8)
  }

  /// Shows the progress of a stream, and prints its report at the end.
  private func reportArrival(of input: InputFile) -> ExitStatus {
    do throws(CommandFailure) {
      let image = try input.openStream(
        reading.options, isFollowed: following.follow, patience: following.followTimeout?.time)
      return try Signals.whileCaught { () throws(CommandFailure) in
        try report(image, from: input)
      }
    } catch {
      guard wanted.json, Signals.ending == nil else {
        error.report(asJSON: wanted.json)
        return error.status
      }
      let failure = error
      let line = CommandRunner.line {
        failure.write(to: &$0, schema: AnimationReport.schema, of: input)
      }
      do throws(CommandFailure) {
        try OutputStream.print(line)
      } catch {
        return error.status
      }
      return failure.status
    }
  }

  private func report(
    _ stream: StreamedImage, from input: InputFile
  ) throws(CommandFailure) -> ExitStatus {
    let tellsArrival = wanted.json && following.follow
    let progress = ProgressReporter(style: tellsArrival ? .none : .auto)
    var arrival = ArrivalReport(input: input, stream: stream, policy: wanted.timing.policy)
    for state in StreamChanges(of: stream) {
      if tellsArrival, arrival.update(to: state) {
        // An interruption by Ctrl-C ends the stream. The report is printed after that.
        let line = CommandRunner.line { arrival.write(to: &$0) }
        guard try OutputStream.print(line, stopsOnSignal: false) == .complete else {
          return .success
        }
      }
      progress.update(nil, of: state)
    }
    progress.finish(nil, of: stream.progress)
    let ending = stream.progress.ending
    if let error = ending?.error {
      throw CommandFailure(error, file: input.name, damage: reading.damage.policy)
    }
    let interruption = CommandFailure.interruption(file: input.name)
    guard let image = stream.image else {
      throw interruption
        ?? CommandFailure(
          AnimatedImageError(.noFrames, "no frame has arrived"), file: input.name,
          damage: reading.damage.policy)
    }
    var report = AnimationReport(input: input, image: image, policy: wanted.timing.policy)
    report.failure = interruption
    if interruption == nil { try complete(&report, progress) }
    try OutputStream.print(output(report), stopsOnSignal: false)
    interruption?.report(asJSON: wanted.json)
    return interruption?.status ?? (report.hasDecodingLosses ? .partial : .success)
  }

  /// Writes `index` to `path`. Replaces an existing file only if it is an index.
  private static func save(_ index: ImageIndex, to path: FilePath) throws(CommandFailure) {
    let bytes = index.bytes
    let isTaken = OutputFile.isTaken(path)
    // The first eight bytes are the same in every index.
    guard !isTaken || OutputFile.isFile(path, beginningWith: Array(bytes.prefix(8))) else {
      throw CommandFailure(.cannotWrite, code: "exists", "\(path) exists and is not an index")
    }
    _ = try Delivery.of { () throws(WriteFailure) in
      if !OutputStream.isNeeded(for: path) {
        TemporaryFile.sweep(OutputFile.directory(of: path))
      }
      try Signals.whileCaught { () throws(WriteFailure) in
        try OutputFile.write(bytes, to: path, isReplacing: isTaken, followsLinks: true)
      }
    }
  }
}
