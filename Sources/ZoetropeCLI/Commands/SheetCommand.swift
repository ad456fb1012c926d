import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// The command `zoetrope sheet`.
struct SheetCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "sheet",
    abstract: "Draw frames side by side: a contact sheet, or a sprite sheet with an atlas.",
    usage: "zoetrope sheet [options] <files> ... -o <output>",
    discussion: """
      Each input starts a new row. All cells have the size of the largest frame; smaller frames are \
      centred. A sheet of one input is about square; a sheet of several inputs has as many columns as \
      the longest input has frames.

      --atlas writes JSON in the format of TexturePacker and Aseprite: each frame's rectangle on \
      the sheet, its "duration" in milliseconds, which follows --timing, and a frame tag for each \
      input.

      Existing files are overwritten only with --force. If several files are given and their \
      statuses differ, the exit status is 1.

      EXAMPLES:
        zoetrope sheet run.gif jump.gif -o hero.png --atlas hero.json
        zoetrope sheet party.gif -o all.png --distinct 12 --size 160x --label time
      """)

  @Argument(help: .files, completion: .animations)
  var files: [String] = []

  @OptionGroup(title: "Files") var listing: FileArguments

  @OptionGroup(title: "Frames") var selected: SelectionArguments

  @OptionGroup(title: "Frames") var choice: ChoiceArguments

  @OptionGroup(title: "Layout") var layout: LayoutArguments

  @OptionGroup(title: "Output") var writing: WritingArguments

  @OptionGroup(title: "Scaling") var scaling: ScalingArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  struct ChoiceArguments: ParsableArguments {
    @Option(
      parsing: .unconditional,
      help: "Draw the N frames that differ most from each other.")
    var distinct: Int?

    func validate() throws {
      guard (1...1000).contains(distinct ?? 1) else {
        throw ValidationError("--distinct must be a number from 1 to 1000")
      }
    }
  }

  struct LayoutArguments: ParsableArguments {
    @Option(parsing: .unconditional, help: "Frames per row. (default: by the number of frames)")
    var columns: Int?

    @Option(parsing: .unconditional, help: "Pixels between and around cells.")
    var padding = 0

    @Option(help: "The text below each frame.")
    var label = SheetLabel.none

    @Option(name: .customLong("bg"), help: "The colour behind the frames.")
    var background = BackgroundArgument(color: .clear)

    func validate() throws {
      guard (1...100_000).contains(columns ?? 1) else {
        throw ValidationError("--columns must be a number from 1 to 100000")
      }
      guard (0...4096).contains(padding) else {
        throw ValidationError("--padding must be a number from 0 to 4096")
      }
    }
  }

  struct WritingArguments: ParsableArguments {
    @Option(
      name: [.customShort("o", allowingJoined: true), .long],
      help: "The PNG file to write, or - for standard output.", completion: .file())
    var output: String

    @Option(
      help: "Write the frames' rectangles as JSON; - for stdout.", completion: .file())
    var atlas: String?

    @Option(help: "With --atlas: how the atlas lists frames.")
    var atlasShape = AtlasShape.hash

    @Flag(help: "Replace existing files.")
    var force = false

    @Flag(name: .shortAndLong, help: "Print no progress and no warnings.")
    var quiet = false

    func validate() throws {
      guard !output.isEmpty, atlas != "" else { throw ValidationError("the output name is empty") }
      if atlas == nil, atlasShape != .hash {
        throw ValidationError("--atlas-shape requires --atlas")
      }
    }
  }

  func validate() throws { try listing.check(files) }

  func execute() throws(CommandFailure) -> ExitStatus {
    try SheetRequest(
      inputs: listing.inputs(files), output: OutputStream.canonicalName(writing.output),
      selection: selected.selection,
      distinctCount: choice.distinct, columns: layout.columns, padding: layout.padding,
      label: layout.label, background: layout.background.color, rendering: scaling.rendering,
      atlas: writing.atlas.map(OutputStream.canonicalName), atlasShape: writing.atlasShape,
      policy: selected.timing.policy,
      isForced: writing.force, isQuiet: writing.quiet, version: VersionText.number,
      options: reading.options
    ).run()
  }
}
