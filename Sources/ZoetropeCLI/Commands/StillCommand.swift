import ArgumentParser
import Zoetrope
import ZoetropePlayer
import ZoetropeProcess
import ZoetropeTerminal

/// `zoetrope still`.
struct StillCommand: ZoetropeSubcommand, PlaceArguments, ScalingArguments, CacheArguments,
  DecodingArguments
{
  static let configuration = CommandConfiguration(
    commandName: "still",
    abstract: "Write or draw one picture of each animation.",
    discussion: """
      Without --frame or --at it is the poster.

      OUTPUT is a file, a directory that exists or ends in a slash (files are called \
      {stem}-{index:04}.png), a template as for extract, a pipe or device, or - for standard output. \
      Several files need a directory, or {stem} or {name} in the template.

      Without -o the pictures are drawn in the terminal, one below the other, or where --place says; \
      with --protocol also into a pipe.

      EXAMPLES:
        zoetrope still party.gif -o thumb.png --size 128x128 --filter lanczos3
        zoetrope still *.gif -o thumbs/ --at 1.5s
        zoetrope still party.gif
      """)

  @Argument(
    help: "GIF or PNG files; - reads standard input.", completion: .animations)
  var files: [String] = []

  @Option(
    name: [.customShort("o", allowingJoined: true), .long],
    help: "A file, a directory, a template, or - for standard output (default: draw).",
    completion: .file())
  var output: String?

  @Option(parsing: .unconditional, help: "The frame, counted from 0; -1 is the last.")
  var frame: FrameNumber?

  @Option(
    parsing: .unconditional,
    help: "The frame shown at a time such as 1.5s, later plays included.")
  var at: TimeArgument?

  @Option(help: "Which frame is the poster.")
  var poster = PosterChoice.default

  @Option(help: "How the picture is written.")
  var format = OutputFormat.png

  @Flag(help: "Replace an existing file.")
  var force = false

  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp("How a picture is drawn; auto picks the best.", valueName: "name"))
  var drawingProtocol: ProtocolArgument?

  @Option(help: "How many colours to draw with.")
  var colors: ColorsArgument?

  @Option(help: "How graphics pass through a multiplexer, which must allow it.")
  var passthrough: PassthroughArgument?

  @Option(
    name: .customLong("bg"),
    help: "What is behind transparent pixels.")
  var backdrop: PlayerBackdrop?

  @Option(help: .place)
  var place: PicturePlace?

  @Option(help: .id)
  var id: Int?

  @Option(help: .cell)
  var cell: CellSizeArgument?

  @Flag(help: .clear)
  var clear = false

  @Option(help: .timing)
  var timing = TimingArgument(policy: .browser)

  @Option(help: .size)
  var size: SizeArgument?

  @Option(help: .fit)
  var fit = ScalingFit.fit

  @Option(help: .filter)
  var filter = ScalingFilter.bilinear

  @Flag(help: .linearLight)
  var linearLight = false

  @Option(help: .cache)
  var cache = CacheArgument.none

  @Option(help: .cacheLimit)
  var cacheLimit: ByteCountArgument?

  @Option(help: .limits)
  var limits = LimitsProfile.default

  @Option(help: .damage)
  var damage = DamageChoice.salvage

  @Option(help: .decoder)
  var decoder = DecoderChoice.fast

  func validate() throws {
    // `--protocol none` plays without drawing; a picture that is not drawn is nothing.
    if drawingProtocol == ProtocolArgument.none {
      throw ValidationError("--protocol none is for play; -o writes files")
    }
    try checkPlace()
    try checkScaling()
    try checkCache()
    guard frame == nil || at == nil else { throw ValidationError("--frame or --at, not both") }
    if let output {
      guard !output.isEmpty else { throw ValidationError("the output name is empty") }
      guard !isDrawing, !hasPlace else {
        throw ValidationError("-o writes files, and options of drawing and previews draw: not both")
      }
    } else if force || format != .png {
      throw ValidationError("--force and --format want -o")
    }
    if clear {
      guard files.isEmpty else { throw ValidationError("--clear removes a picture: no file") }
      return
    }
    guard !files.isEmpty else { throw ValidationError("a file is needed") }
    if id != nil || place?.position != nil, files.count > 1 {
      throw ValidationError("one place or --id has one picture: name one file")
    }
  }

  func execute() -> ExitStatus {
    if clear {
      do throws(CommandFailure) {
        try PictureDrawing.clear(drawingSettings)
        return .success
      } catch {
        error.report(asJSON: false)
        return error.status
      }
    }
    return StillRequest(
      files: files, output: output.map { .files($0) } ?? .drawing(drawingSettings),
      choice: choice, rendering: rendering, format: format, policy: timing.policy,
      isForced: force, cache: cacheSettings, options: decoding
    ).run()
  }

  /// Whether an option of drawing was given.
  private var isDrawing: Bool {
    drawingProtocol != nil || colors != nil || passthrough != nil || backdrop != nil
  }

  private var drawingSettings: PreviewSettings {
    var settings = PreviewSettings()
    if case .mode(let mode)? = drawingProtocol { settings.mode = mode }
    settings.colors = colors?.depth
    settings.passthrough = passthrough?.passthrough
    settings.backdrop = backdrop ?? .terminal
    // Never larger than it is, as other programs' previews have it.
    settings.fit = .shrink
    applyPlace(to: &settings)
    return settings
  }

  private var choice: StillRequest.Choice {
    if let frame { return .frame(frame) }
    if let at { return .time(at.time + .printingLoss) }
    return .poster(poster)
  }
}

/// The words of `--poster`.
enum PosterChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case first, `default`, nonblank
}
