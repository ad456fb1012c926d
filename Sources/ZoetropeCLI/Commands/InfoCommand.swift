import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// `zoetrope info`.
struct InfoCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show size, frames, plays, delays and metadata, without decoding pixels.",
    discussion: """
      --json prints one object per file and line, in order and as files are done (schema \
      zoetrope.animation/2). A file that cannot be read has "error" with "code", "message", "byte" \
      and "frame" instead of the rest. "plays" is null when "forever" is true; "delay" is the stored \
      fraction; "start_ms" and "effective_ms" follow --timing; "file_base64" is present when the name \
      is not valid UTF-8.

      --save-index writes what scanning found, for programs that decode frames of the file where it is \
      remote (RemoteImage): they then read the bytes of each frame alone. An existing index is replaced.

      Exit status for several files: the one they share, else 1.
      """)

  @Argument(help: "GIF or PNG files; - reads standard input.", completion: .animations)
  var files: [String]

  @Flag(help: "Print JSON, one object per file and line, with frames and metadata.")
  var json = false

  @Flag(help: "List every frame.")
  var frames = false

  @Flag(help: "List comments, text, colour and application blocks.")
  var metadata = false

  @Option(
    help: .init("Write the index of one FILE to PATH.", valueName: "path"), completion: .file())
  var saveIndex: String?

  @OptionGroup var timing: TimingArguments

  @OptionGroup var decoding: DecodingArguments

  /// Prints a report or an error for each file in order, as soon as it is there.
  func execute() -> ExitStatus {
    let (options, policy) = (decoding.options, timing.policy)
    return CommandRunner.forEach(files, asJSON: json, schema: AnimationReport.schema) {
      input throws(CommandFailure) in
      let image = try input.open(options)
      if let saveIndex { try Self.save(ImageIndex(of: image), to: saveIndex) }
      let report = AnimationReport(input: input, image: image, policy: policy)
      if json { return (.success, CommandRunner.line { report.write(to: &$0) }) }
      return (.success, Array(report.text(showsFrames: frames, showsMetadata: metadata).utf8))
    }
  }
  func validate() throws {
    guard let saveIndex else { return }
    if files.count > 1 { throw ValidationError("--save-index takes one file.") }
    // The report is there.
    if saveIndex == "-" { throw ValidationError("--save-index needs a file.") }
  }

  /// Writes `index` to the file that the user called `name`.
  private static func save(_ index: ImageIndex, to name: String) throws(CommandFailure) {
    do throws(WriteFailure) {
      let path = FilePath(bytes: RawArguments.bytes(of: name))
      if !OutputStream.isNeeded(for: path) {
        TemporaryFile.sweep(OutputFile.directory(of: path))
      }
      let bytes = index.data
      try Signals.whileCaught { () throws(WriteFailure) in
        try OutputFile.write(bytes, to: path, isReplacing: true, followsLinks: true)
      }
    } catch {
      throw error.commandFailureOrEnd
    }
  }
}
