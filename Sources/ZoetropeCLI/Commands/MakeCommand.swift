import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// `zoetrope make`.
struct MakeCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "make",
    abstract: "Make an animation of pictures.",
    discussion: """
      FRAMES are PNG files of one size, directories of them, or - for PNG files one after another, as \
      extract -o - writes them. They are taken in natural order, f2.png before f10.png, unless --order \
      given. A still GIF is taken as well.

      A manifest that extract --manifest wrote names the files itself, with delays, plays and the static \
      image: extract and make are each other's inverse. Names in it are looked up from the current \
      directory; --fps, --delay, --delays and --plays replace what it says.

      --delays FILE has one delay on each line, such as 100ms, 0.1s or 1/30; text behind # is skipped. \
      Every frame is kept, equal ones too. Nothing is written if a picture cannot be read, has another \
      size, or does not fit the format: a GIF has at most 256 colours where a frame changes, no partly \
      transparent pixels, and hundredths of a second.

      OUTPUT is a file whose name ends in .gif, .png or .apng, a pipe or device, or - for standard \
      output, which is APNG without --format. Existing files are not overwritten without --force, \
      pictures never.

      EXAMPLES:
        zoetrope make frames/ -o film.png --fps 24
        zoetrope make f*.png -o film.gif --delay 40ms --plays 3
        zoetrope make frames.json -o again.png
      """)

  @Argument(
    help: ArgumentHelp(
      "PNG files, directories of them, a manifest, or -.", valueName: "frames"),
    completion: .file(extensions: ["png", "json"]))
  var files: [String]

  @OptionGroup(title: "Times") var times: TimeArguments

  @OptionGroup(title: "Pictures") var pictures: PictureArguments

  @OptionGroup(title: "Output") var writing: AnimationWritingArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  struct TimeArguments: ParsableArguments {
    @Option(parsing: .unconditional, help: "Frames per second, such as 25, 29.97 or 30000/1001.")
    var fps: PictureRate?

    @Option(parsing: .unconditional, help: "Show every frame for so long, such as 40ms or 1/30.")
    var delay: DelayArgument?

    @Option(help: "A file with a delay for each frame, one per line.", completion: .file())
    var delays: String?

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "The total number of plays. (default: forever)", argumentType: PlaysArgument.self))
    var plays: PlaysArgument?

    func validate() throws {
      guard [fps != nil, delay != nil, delays != nil].count(where: { $0 }) <= 1 else {
        throw ValidationError("--fps, --delay or --delays: choose one")
      }
      if delays == "" { throw ValidationError("the name of the list of delays is empty") }
    }

    var delayChoice: MakeRequest.Delays? {
      if let delay { return .same(delay.delay) }
      if let delays { return .listed(delays) }
      return fps.flatMap { DelayArgument($0) }.map { .same($0.delay) }
    }
  }

  struct PictureArguments: ParsableArguments {
    @Option(help: "In which order files are taken.")
    var order = FrameOrder.natural

    @Option(
      help: "A picture for programs that do not play APNG, which is no frame.",
      completion: .file(extensions: ["png"]))
    var poster: String?
  }

  /// The command as a value.
  var request: MakeRequest {
    MakeRequest(
      files: files, output: writing.output, delays: times.delayChoice,
      playCount: times.plays?.count, order: pictures.order, poster: pictures.poster,
      form: writing.choices, reporting: writing.reporting, options: reading.options)
  }

  var reportsJSON: Bool { request.reporting.isJSON }

  func execute() throws(CommandFailure) -> ExitStatus { try request.run() }
}
