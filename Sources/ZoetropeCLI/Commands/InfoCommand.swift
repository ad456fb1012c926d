import ArgumentParser
import Zoetrope

/// `zoetrope info`.
struct InfoCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show size, frames, plays, delays and metadata, without decoding pixels.",
    discussion: """
      --json prints one object for one file and an array for several (schema zoetrope.animation/1). \
      Delays are the stored fractions; effective_ms is what a player shows under --timing.
      """)

  @Argument(help: "GIF or PNG files; - reads standard input.", completion: .animations)
  var files: [String]

  @Flag(help: "Print JSON; it always lists the frames and the metadata.")
  var json = false

  @Flag(help: "List every frame.")
  var frames = false

  @Flag(help: "List comments, text, colour and application blocks.")
  var metadata = false

  @Option(
    help: ArgumentHelp(
      "How players treat short delays: browser, exact, ffmpeg, imageio, gtk, or MIN:REPL in ms.",
      valueName: "policy"))
  var timing = TimingArgument(policy: .browser)

  @OptionGroup var decoding: DecodingArguments

  /// The command as a value.
  var request: InfoRequest {
    InfoRequest(
      files: files, isJSON: json, showsFrames: frames, showsMetadata: metadata,
      policy: timing.policy, options: decoding.options)
  }

  func execute() -> ExitStatus { request.run() }
}
