import ArgumentParser
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

      Exit status for several files: the one they share, else 1.
      """)

  @Argument(help: "GIF or PNG files; - reads standard input.", completion: .animations)
  var files: [String]

  @Flag(help: "Print JSON, one object per file and line, with frames and metadata.")
  var json = false

  @Option(
    help: ArgumentHelp(
      """
      Print a line per file, such as '{file} {frames} {duration_ms}'; also {format} {width} {height} \
      {plays} {bytes} {damage} {stored_ms} {least_delay_ms} {longest_delay_ms}, \\t and \\n.
      """,
      valueName: "template"),
    transform: Self.template)
  var format: InfoTemplate?

  @Flag(help: "List every frame.")
  var frames = false

  @Flag(help: "List comments, text, colour and application blocks.")
  var metadata = false

  @OptionGroup var timing: TimingArguments

  @OptionGroup var decoding: DecodingArguments

  /// Prints a report or an error for each file in order, as soon as it is there.
  func execute() -> ExitStatus {
    let (options, policy) = (decoding.options, timing.policy)
    return CommandRunner.forEach(files, asJSON: json, schema: AnimationReport.schema) {
      input throws(CommandFailure) in
      let report = AnimationReport(
        input: input, image: try input.open(options), policy: policy)
      if let format { return (.success, format.line(report)) }
      if json { return (.success, CommandRunner.line { report.write(to: &$0) }) }
      return (.success, Array(report.text(showsFrames: frames, showsMetadata: metadata).utf8))
    }
  }

  func validate() throws {
    guard format == nil || !(json || frames || metadata) else {
      throw ValidationError(
        "--format prints nothing else: leave out --json, --frames and --metadata")
    }
  }

  private static func template(_ text: String) throws -> InfoTemplate {
    if let template = InfoTemplate(text) { return template }
    let fields = InfoTemplate.Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
    throw ValidationError(
      "--format has the fields \(fields), {{ and }} for braces, and \\t, \\n and \\\\")
  }
}
