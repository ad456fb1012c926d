import ArgumentParser
import Zoetrope
import ZoetropePlayer
import ZoetropeProcess
import ZoetropeTerminal

/// The command `zoetrope still`.
struct StillCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "still",
    abstract: "Write or draw one picture of each animation.",
    usage: "zoetrope still [options] <files> ... [-o <output>]",
    discussion: """
      The picture is the poster unless --frame or --at selects a frame.

      OUTPUT is a file, a directory, a template as for extract, a pipe or device, or - for \
      standard output. OUTPUT is taken as a directory if it names an existing directory or ends in \
      a slash. Files in a directory are called {stem}-{index:04}.png. To write several files, name \
      a directory, or use {stem} or {name} in a template.

      Without -o the pictures are drawn in the terminal, one below the other, or at --place. With \
      --protocol, output may also be a pipe.

      EXAMPLES:
        zoetrope still party.gif -o thumb.png --size 128x128 --filter lanczos3
        zoetrope still *.gif -o thumbs/ --at 1.5s
        zoetrope still party.gif
      """)

  @Argument(help: .files, completion: .animations)
  var files: [String] = []

  @OptionGroup(title: "Files") var listing: FileArguments

  @OptionGroup(title: "Picture") var picture: PictureArguments

  @OptionGroup(title: "Output") var writing: WritingArguments

  @OptionGroup(title: "Drawing") var drawing: DrawingArguments

  @OptionGroup(title: "Previews") var preview: PlaceArguments

  @OptionGroup(title: "Scaling") var scaling: ScalingArguments

  @OptionGroup(title: "Cache") var caching: CacheArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  struct PictureArguments: ParsableArguments {
    @Option(parsing: .unconditional, help: "The number of a frame, from 0; -1 for the last.")
    var frame: FrameNumber?

    @Option(
      parsing: .unconditional,
      help: "The frame shown after playing this long, as in 1.5s.")
    var at: TimeArgument?

    @Option(help: "Which frame to use as the poster.")
    var poster = PosterChoice.default

    @Option(help: .timing)
    var timing = TimingArgument(policy: .browser)

    func validate() throws {
      guard frame == nil || at == nil else {
        throw ValidationError("--frame and --at cannot be combined")
      }
      guard poster == .default || frame == nil && at == nil else {
        throw ValidationError("--poster cannot be combined with --frame or --at")
      }
    }

    var choice: StillRequest.Choice {
      if let frame { return .frame(frame) }
      if let at { return .time(at.time + .printingLoss) }
      return .poster(poster)
    }
  }

  struct WritingArguments: ParsableArguments {
    @Option(
      name: [.customShort("o", allowingJoined: true), .long],
      help: "A file, directory, template, or - for stdout. (default: draw in the terminal)",
      completion: .file())
    var output: String?

    @Option(help: "The output format.")
    var format = OutputFormat.png

    @Flag(help: "Replace an existing file.")
    var force = false

    func validate() throws {
      guard output != "" else { throw ValidationError("the output name is empty") }
      if output == nil, force || format != .png {
        throw ValidationError("--force and --format require -o")
      }
    }
  }

  func validate() throws {
    // `--protocol none` plays a file without drawing it, which makes no sense for one picture.
    if drawing.output == ProtocolArgument.none {
      throw ValidationError("--protocol none works only with play; use -o to write files")
    }
    if writing.output != nil, drawing.isGiven || preview.isGiven {
      throw ValidationError("-o cannot be combined with options for drawing and previews")
    }
    if preview.clear {
      guard files.isEmpty, listing.names.filesFrom == nil else {
        throw ValidationError("--clear takes no file")
      }
      return
    }
    try listing.check(files)
    if isPlaced, files.count != 1 { throw ValidationError(Self.placeConflict) }
  }

  /// Whether the picture has a place or a name, which other pictures cannot have.
  private var isPlaced: Bool { preview.id != nil || preview.place?.hasPosition == true }
  private static let placeConflict =
    "--id and a --place with a position work with one file only"

  func execute() throws(CommandFailure) -> ExitStatus {
    var drawn = drawing.settings(at: preview)
    // Previews are never enlarged. Other programs do not enlarge them either.
    drawn.fit = .shrink
    if preview.clear {
      try PictureDrawing.clear(drawn)
      return .success
    }
    let inputs = try listing.inputs(files, besides: writing.output)
    if isPlaced, inputs.count != 1 { throw .usage(Self.placeConflict) }
    return try StillRequest(
      inputs: inputs,
      output: writing.output.map { .files(OutputStream.canonicalName($0)) } ?? .drawing(drawn),
      choice: picture.choice, rendering: scaling.rendering, format: writing.format,
      policy: picture.timing.policy, isForced: writing.force, cache: caching.settings,
      options: reading.options
    ).run()
  }
}

/// A value of `--poster`.
enum PosterChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case first, `default`, nonblank
}
