import ArgumentParser
import Zoetrope

/// `zoetrope still`.
struct StillCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "still",
    abstract: "Write one picture of an animation.",
    discussion: """
      Without --frame or --at it is the poster: default is an APNG's static image where that is not \
      a frame, else the first frame; nonblank is the first frame that is not all transparent.

      OUTPUT is a file, a directory that is there or ends in a slash (the file is called \
      {stem}-{index:04}.png), a template as extract has it, a pipe or device, or - for standard output.
      """)

  @Argument(
    help: "A GIF or PNG file; - reads standard input.", completion: .animations)
  var file: String

  @Option(
    name: [.customShort("o", allowingJoined: true), .long],
    help: "A file, a directory, a template, or - for standard output.",
    completion: .file())
  var output: String

  @Option(parsing: .unconditional, help: "The frame, counted from 0; -1 is the last.")
  var frame: FrameNumber?

  @Option(
    parsing: .unconditional,
    help: "The frame on screen at a time such as 1.5s, as --timing shows it; later plays count.")
  var at: TimeArgument?

  @Option(help: "first, default or nonblank.")
  var poster = PosterChoice.default

  @Option(help: "png, or rgba: width x height x 4 bytes, straight alpha.")
  var format = OutputFormat.png

  @Flag(help: "Replace a file that exists.")
  var force = false

  @OptionGroup var timing: TimingArguments

  @OptionGroup var scaling: ScalingArguments

  @OptionGroup var decoding: DecodingArguments

  func validate() throws {
    guard frame == nil || at == nil else { throw ValidationError("--frame or --at, not both") }
    guard !output.isEmpty else { throw ValidationError("the output name is empty") }
  }

  func execute() -> ExitStatus {
    StillRequest(
      file: file, output: output, choice: choice, rendering: scaling.rendering, format: format,
      policy: timing.policy, isForced: force, options: decoding.options
    ).run()
  }

  private var choice: StillRequest.Choice {
    if let frame { return .frame(frame) }
    if let at { return .time(at.time) }
    return .poster(poster)
  }
}

/// The words of `--poster`.
enum PosterChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case first, `default`, nonblank
}
