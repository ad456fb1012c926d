import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// The command `zoetrope make`.
struct MakeCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "make",
    abstract: "Make an animation from pictures.",
    usage: "zoetrope make [options] <frames> ... -o <output>",
    discussion: """
      FRAMES are PNG or GIF files, not animated and all of the same size, or directories of PNG \
      files. With - as FRAMES, PNG files are read one after another from standard input, as \
      extract -o - writes them. Files are sorted in natural order, f2.png before f10.png. With \
      "--order given", which is the default with --files-from, they keep the order in which you \
      name them.

      FRAMES can also be a manifest written by extract --manifest. The manifest lists the files, \
      their delays, the number of plays and the static image, so make can restore the animation \
      (use extract --depth 16 for 16 bits per channel). The paths in it are relative to the \
      current directory. --fps, --delay, --delays, --duration and --plays override the manifest.

      The file of --delays contains one delay per line, such as 100ms, 0.1s or 1/30; # starts a \
      comment. Every frame is kept, even if it equals the one before. However, browsers show a \
      frame with a delay of 10 ms or less for 100 ms. Frames that would get a delay below 20 ms in \
      a GIF, or below 11 ms in an APNG, are therefore dropped and their time is added to other \
      frames, unless --exact-delays is given. A delay of 0, and delays from a manifest, stay as \
      they are. Nothing is written if a picture cannot be read, is damaged or has a different \
      size. With --damage partial, the decoded rows of a picture whose pixels are truncated or \
      damaged are kept; other damage, and a damaged poster, are still refused.

      A GIF frame can have at most 256 colours for the pixels that it changes, and these pixels \
      cannot be partly transparent. Pictures that do not meet these limits are reduced to a \
      palette and to opaque or fully transparent pixels; with --colors exact they are rejected \
      instead. An APNG keeps all colours, unless --colors N gives it a palette. GIF delays are \
      whole hundredths of a second.

      OUTPUT is a file whose name ends in .gif, .png or .apng, a pipe or device, or - for standard \
      output. Standard output receives an APNG unless --format is given. Existing files are \
      overwritten only with --force, and input files are never overwritten.

      EXAMPLES:
        zoetrope make frames/ -o film.png --fps 24
        zoetrope make f*.png -o film.gif --delay 40ms --plays 3
        zoetrope make frames.json -o again.png
      """)

  @Argument(
    help: ArgumentHelp(
      "PNG or GIF files, directories of PNG files, a manifest, or -.", valueName: "frames"),
    completion: .file(extensions: ["png", "json"]))
  var files: [String] = []

  @OptionGroup(title: "Times") var times: TimeArguments

  @OptionGroup(title: "Pictures") var pictures: PictureArguments

  @OptionGroup(title: "Pictures") var listing: FileListArguments

  @OptionGroup(title: "Colours") var colors: ColorArguments

  @OptionGroup(title: "Output") var naming: FileNameArguments

  @OptionGroup(title: "Output") var writing: AnimationOutputArguments

  @OptionGroup(title: "Output") var form: AnimationFormArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  struct FileNameArguments: ParsableArguments {
    @Option(
      name: [.customShort("o", allowingJoined: true), .long],
      help: "A file, or - for standard output.", completion: .file())
    var output: String
  }

  struct TimeArguments: ParsableArguments {
    @Option(parsing: .unconditional, help: "Frames per second, such as 25, 29.97 or 30000/1001.")
    var fps: PictureRate?

    @Option(parsing: .unconditional, help: "The delay of every frame, such as 40ms or 1/30.")
    var delay: DelayArgument?

    @Option(
      parsing: .unconditional, help: "The duration of one play, shared equally by all frames.")
    var duration: TimeArgument?

    @Option(help: "A file with one delay per line, one for each frame.", completion: .file())
    var delays: String?

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "The total number of plays. (default: forever)", argumentType: PlaysArgument.self))
    var plays: PlaysArgument?

    func validate() throws {
      let given = [fps != nil, delay != nil, delays != nil, duration != nil]
      guard given.count(where: { $0 }) <= 1 else {
        throw ValidationError("--fps, --delay, --delays and --duration cannot be combined")
      }
      if let duration, duration.time == .zero {
        throw ValidationError("--duration must be more than 0")
      }
      if delays == "" { throw ValidationError("the name of the list of delays is empty") }
    }

    var delayChoice: MakeRequest.Delays? {
      if let delay { return .same(delay.delay) }
      if let delays { return .listed(delays) }
      if let duration { return .shared(duration.time) }
      return fps.flatMap { DelayArgument($0) }.map { .same($0.delay) }
    }
  }

  struct PictureArguments: ParsableArguments {
    @Option(help: "The order of files. (default: natural; given with --files-from)")
    var order: FrameOrder?

    @Option(
      help: "A picture for programs that cannot play APNG; it is not one of the frames.",
      completion: .file(extensions: ["png"]))
    var poster: String?
  }

  /// The request that corresponds to the arguments.
  var request: MakeRequest {
    MakeRequest(
      files: InputList(files, list: listing.filesFrom, endsNamesWithNull: listing.null),
      output: naming.output, delays: times.delayChoice, playCount: times.plays?.count,
      order: pictures.order ?? (listing.filesFrom == nil ? .natural : .given),
      poster: pictures.poster,
      form: form.choices(writing, colors), reporting: writing.reporting, options: reading.options)
  }

  func validate() throws {
    try listing.check(files)
    try colors.check(writing)
  }

  var reportsJSON: Bool { request.reporting.isJSON }

  func execute() throws(CommandFailure) -> ExitStatus { try request.run() }
}
