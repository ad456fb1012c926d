import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// The command `zoetrope extract`.
struct ExtractCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "extract",
    abstract: "Write frames as PNG files, raw pixels or video.",
    usage: "zoetrope extract [options] <files> ... -o <output>",
    discussion: """
      Frames are composited: each shows the whole canvas as a browser would. A file appears only \
      when it is complete. Existing files are overwritten only with --force, and inputs are never \
      overwritten. All output names are checked before the first frame is written. After an \
      interruption, --resume writes only the missing files.

      OUTPUT is a directory, a template, or - for standard output. Files in a directory are called \
      {stem}-{index}.png. A template may contain {name} (the input's name with its extension), \
      {stem} (the name without it), {dir} (the directory in the input's path as given, without a \
      leading /; for an input found in a directory that was given, only the part below that \
      directory), {parent} (the name of the input's directory), {index}, {start_ms}, {shown_ms}, \
      {ext} and %04d. In names taken from the inputs, control characters are replaced by _, and so \
      is .. in {dir}. Numbers take a width, as in {start_ms:06}. {index} without a width has as \
      many digits as the last frame's number, but at least four in the names of files in a \
      directory and while frames are written as they arrive. If OUTPUT is a pipe or a device, it \
      receives one frame after another.

      --format y4m writes one video with a constant frame rate. Frames are repeated, so that each \
      is shown for exactly its delay. Colours are BT.601 in limited range, without subsampling. \
      With several files, OUTPUT must be a directory or contain {stem}.

      --format ffconcat writes PNG files, and then a list of them with their durations, called \
      DIR/{stem}.ffconcat or as given with -o. ffmpeg 5.0 or later plays the list with -safe 0 -f \
      concat -i LIST.

      --format tar writes one archive for all files. Its entries are named as WebDataset expects: \
      stem.0000.png and so on, and stem.json, which contains the input's line of the manifest.

      The manifest gives each file a "status": ok, damaged, unreadable or failed. With --fps, \
      "pictures" lists the frame that each picture shows. A manifest whose name ends in .csv is a \
      table with a row for each picture.

      With --unique or --changed-only, the manifest also lists the frames that were skipped. In a \
      skipped frame, "same_as" is the number of the frame that shows the same picture. In a \
      written frame, "shown_by" lists all frames that show its picture. With --changed-only, a \
      written frame also has "changed_rect": x, y, width and height of the area that changed.

      --frames takes frame numbers, which start at 0, and ranges, separated by commas. 3-7 means \
      frames 3 to 7, 10- means frame 10 and all later ones, -1 means the last frame, and ::2 means \
      every other frame, as in Python. Frames are written in file order, each once; ranges must \
      ascend.

      From a pipe, and with --follow, each frame is written as soon as its bytes arrive, and its \
      output name is checked only then. Without --manifest, reading ends with the last frame that \
      can be selected. An interruption keeps the frames written so far. With any of the following, \
      the whole input is read first: several files, --format y4m, ffconcat or tar, --fps, \
      --static, --cache, --damage strict, --skip-damaged, frames counted from the end, and output \
      names without {index}.

      Times in options and output names follow --timing. If several files are given and their \
      statuses differ, the exit status is 1. If output cannot be written, the command stops with \
      status 4. If the program that reads the frames from a pipe closes it, the command ends, but \
      that is no error.

      EXAMPLES:
        zoetrope extract party.gif -o frames/
        zoetrope extract a.png -o 'f-{index:04}-{start_ms}.png' --frames 0,3-7,-1
        zoetrope extract -r data -o 'out/{dir}/{stem}-{index}.png' --manifest m.csv
        zoetrope extract *.gif -o 'all/{name}-{index:04}.{ext}' --size 320x
        curl -s URL | zoetrope extract - -o frames/
      """)

  @Argument(help: .files, completion: .animations)
  var files: [String] = []

  @OptionGroup(title: "Files") var listing: FileArguments

  @OptionGroup(title: "Frames") var selected: SelectionArguments

  @OptionGroup(title: "Frames") var choosing: ChoiceArguments

  @OptionGroup(title: "Output") var writing: WritingArguments

  @OptionGroup(title: "Scaling") var scaling: ScalingArguments

  @OptionGroup(title: "Cache") var caching: CacheArguments

  @OptionGroup(title: "Reading") var following: FollowArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  /// The options that determine which of the selected frames are written.
  struct ChoiceArguments: ParsableArguments {
    @Flag(help: "Write each distinct picture only once.")
    var unique = false

    @Flag(help: "Write only frames that differ from the one before.")
    var changedOnly = false

    @Flag(help: "Leave out frames affected by damage.")
    var skipDamaged = false

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        """
        Write this many pictures a second (up to 1000) of the play or --time; {index} counts \
        them.
        """))
    var fps: PictureRate?

    @Option(
      name: .customLong("static"),
      help: "Whether to write a static image that is not a frame.")
    var staticImage = StaticImageChoice.skip

    func validate() throws {
      guard !(unique && changedOnly) else {
        throw ValidationError(
          "--unique already leaves out unchanged frames; drop --changed-only")
      }
    }

    var pictures: PictureChoice { unique ? .unique : changedOnly ? .changed : .all }
  }

  struct WritingArguments: ParsableArguments {
    @Option(
      name: [.customShort("o", allowingJoined: true), .long],
      help: "A directory, a template, or - for standard output.",
      completion: .file())
    var output: String

    @Option(help: "The output format.")
    var format = ExtractionFormat.png

    @Option(help: "Write smaller PNG files, or write them faster.")
    var effort = EffortChoice.default

    @Option(help: "Bits per channel: 8 or 16. With --format rgba, 16 bits are little-endian.")
    var depth = 8

    @Flag(help: "Write frames as stored, not composited.")
    var raw = false

    @Option(
      name: .customLong("bg"), help: "With --format y4m: the colour behind transparent pixels.")
    var background = BackgroundArgument(color: .black)

    @Option(
      help: "List the outputs as JSON, or as CSV if the name ends in .csv; - for stdout.",
      completion: .file())
    var manifest: String?

    @Flag(help: "Replace existing files.")
    var force = false

    @Flag(help: "Keep existing files; fail if stale, cut or resized.")
    var resume = false

    @OptionGroup var threads: ThreadArguments

    @Option(help: "How to show progress on standard error.")
    var progress = ProgressStyle.auto

    @Flag(name: .shortAndLong, help: "Print no progress and no warnings.")
    var quiet = false

    func validate() throws {
      guard background.color.alpha != 0 else {
        throw ValidationError(
          "video has no alpha; --bg must be black, white or a colour such as 336699")
      }
      guard depth == 8 || depth == 16 else { throw ValidationError("--depth must be 8 or 16") }
      guard !(force && resume) else {
        throw ValidationError("--force and --resume cannot be combined")
      }
      if format == .rgba || format == .y4m, effort != .default {
        throw ValidationError("--effort works only with PNG output")
      }
      if format != .y4m, background != BackgroundArgument(color: .black) {
        throw ValidationError("--bg requires --format y4m; other formats keep transparency")
      }
      if manifest == "" { throw ValidationError("the name of the manifest is empty") }
    }
  }

  func validate() throws {
    try following.check(files)
    try listing.check(files)
    guard !writing.raw || scaling.size == nil else {
      throw ValidationError("--raw writes frames at their stored size; drop --size")
    }
    guard !writing.raw || caching.cache == .none else {
      throw ValidationError("--cache stores composited frames; it cannot be combined with --raw")
    }
    if choosing.fps != nil {
      guard selected.frames == nil, selected.every == 1, !writing.raw,
        choosing.staticImage == .skip
      else {
        throw ValidationError(
          "--fps resamples by time; it cannot be combined with --frames, --every, --raw or "
            + "--static; use --time to choose a part")
      }
      guard writing.format != .ffconcat, choosing.pictures == .all else {
        throw ValidationError(
          "--fps repeats frames; it cannot be combined with --format ffconcat, --unique or "
            + "--changed-only")
      }
    }
    if choosing.staticImage == .only {
      guard selected.selection == FrameSelection(), choosing.pictures == .all else {
        throw ValidationError(
          "--static only writes no frames; it cannot be combined with --frames, --time, --every, "
            + "--max, --unique or --changed-only")
      }
    }
    switch writing.format {
    case .png, .rgba: break
    case .y4m:
      guard !writing.raw, choosing.staticImage == .skip, writing.depth == 8,
        writing.manifest == nil, !writing.resume, choosing.pictures == .all,
        !choosing.skipDamaged
      else {
        throw ValidationError(
          "--format y4m writes one video; it cannot be combined with --raw, --static, --depth, "
            + "--manifest, --resume, --unique, --changed-only or --skip-damaged")
      }
    case .ffconcat:
      guard !writing.raw, choosing.staticImage == .skip else {
        throw ValidationError("--format ffconcat cannot be combined with --raw or --static")
      }
    case .tar:
      guard !writing.resume else {
        throw ValidationError(
          "--format tar writes one archive; it cannot be combined with --resume")
      }
    }
  }

  /// Returns the request that corresponds to the arguments.
  func request(for inputs: [InputFile]) -> ExtractRequest {
    var options = reading.options
    options.keeps16Bit = writing.depth == 16
    var cache = caching.settings
    cache.isQuiet = writing.quiet
    cache.reportsJSON = writing.progress == .json
    var rate = choosing.fps
    rate?.start = selected.selection.time?.start ?? .zero
    return ExtractRequest(
      inputs: inputs, output: OutputStream.canonicalName(writing.output),
      selection: selected.selection, rate: rate,
      isRaw: writing.raw, rendering: scaling.rendering, format: writing.format,
      effort: writing.effort.effort, choice: choosing.pictures,
      background: writing.background.color, staticImage: choosing.staticImage,
      manifest: writing.manifest.map(OutputStream.canonicalName),
      skipsDamaged: choosing.skipDamaged,
      policy: selected.timing.policy, jobs: writing.threads.count,
      isForced: writing.force, isResuming: writing.resume, isFollowing: following.follow,
      followTimeout: following.followTimeout?.time, progress: writing.progress,
      isQuiet: writing.quiet, cache: cache, options: options)
  }

  var reportsJSON: Bool { writing.progress == .json }

  func execute() throws(CommandFailure) -> ExitStatus {
    try request(for: listing.inputs(files, besides: writing.output)).run()
  }
}
