import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// `zoetrope sheet`.
struct SheetCommand: ZoetropeSubcommand, ScalingArguments, DecodingArguments {
  static let configuration = CommandConfiguration(
    commandName: "sheet",
    abstract: "Draw frames side by side: a contact sheet, or a sprite sheet with its atlas.",
    discussion: """
      Each input begins a row. All cells are as large as the largest frame; smaller ones are centred. \
      With one input there are as many columns as make the sheet about square, with several as many \
      as the longest has frames.

      --atlas writes JSON as TexturePacker and Aseprite do: each frame's rectangle on the sheet and \
      its "duration" in milliseconds under --timing, and a frame tag for each input.

      Nothing is overwritten without --force. Exit status for several files: the one they share, \
      else 1.

      EXAMPLES:
        zoetrope sheet run.gif jump.gif -o hero.png --atlas hero.json
        zoetrope sheet party.gif -o all.png --distinct 12 --size 160x --label time
      """)

  @Argument(help: "GIF or PNG files; - reads standard input.", completion: .animations)
  var files: [String]

  @Option(
    name: [.customShort("o", allowingJoined: true), .long],
    help: "The sheet, a PNG file, or - for standard output.", completion: .file())
  var output: String

  @Option(
    parsing: .unconditional, help: "Which frames, such as 0,3-7,-1,10-,::2.",
    transform: ExtractCommand.selector)
  var frames: FrameSelector?

  @Option(parsing: .unconditional, help: "Frames shown in a time range, such as 1.5s-3s.")
  var time: TimeRange?

  @Option(parsing: .unconditional, help: "Every Nth of the selected frames.")
  var every = 1

  @Option(parsing: .unconditional, help: "At most this many frames of each file.")
  var max: Int?

  @Option(
    parsing: .unconditional,
    help: "The N frames that look least alike; decodes each file twice.")
  var distinct: Int?

  @Option(parsing: .unconditional, help: "Frames in a row. (default: about square)")
  var columns: Int?

  @Option(parsing: .unconditional, help: "Pixels between cells and around them.")
  var padding = 0

  @Option(help: "What stands below each frame.")
  var label = SheetLabel.none

  @Option(
    name: .customLong("bg"), help: "What is behind the frames.")
  var background = BackgroundArgument(color: .clear)

  @Option(
    help: "Write where each frame lies as JSON; - is standard output.", completion: .file())
  var atlas: String?

  @Option(help: "With --atlas: the shape of its list of frames.")
  var atlasShape = AtlasShape.hash

  @Flag(help: "Replace existing files.")
  var force = false

  @Flag(name: .shortAndLong, help: "No progress and no warnings.")
  var quiet = false

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

  @Option(help: .limits)
  var limits = LimitsProfile.default

  @Option(help: .damage)
  var damage = DamageChoice.salvage

  @Option(help: .decoder)
  var decoder = DecoderChoice.fast

  func validate() throws {
    try checkScaling()
    guard every >= 1 else { throw ValidationError("--every must be a number from 1 up") }
    guard max ?? 1 >= 1 else { throw ValidationError("--max must be a number from 1 up") }
    guard (1...1000).contains(distinct ?? 1) else {
      throw ValidationError("--distinct must be a number from 1 to 1000")
    }
    guard (1...100_000).contains(columns ?? 1) else {
      throw ValidationError("--columns must be a number from 1 to 100000")
    }
    guard (0...4096).contains(padding) else {
      throw ValidationError("--padding must be a number from 0 to 4096")
    }
    guard !output.isEmpty, atlas != "" else { throw ValidationError("the output name is empty") }
    if atlas == nil, atlasShape != .hash { throw ValidationError("--atlas-shape wants --atlas") }
  }

  func execute() -> ExitStatus {
    SheetRequest(
      files: files, output: output,
      selection: FrameSelection(frames: frames, time: time, every: every, maximum: max ?? .max),
      distinctCount: distinct, columns: columns, padding: padding, label: label,
      background: background.color, rendering: rendering, atlas: atlas,
      atlasShape: atlasShape, policy: timing.policy, isForced: force, isQuiet: quiet,
      version: VersionText.number, options: decoding
    ).run()
  }
}
