import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// `zoetrope extract`.
struct ExtractCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "extract",
    abstract: "Write frames as PNG files, as raw pixels or as video.",
    discussion: """
      Frames are composited: each shows the whole canvas as a browser would. Existing files are not \
      overwritten without --force, inputs never, and no partial file ever has a final name; after an \
      interruption --resume writes only what is missing. All names are checked before the first frame \
      is written.

      OUTPUT is a directory (files are called {stem}-{index}.png, with at least four digits), a template \
      with {name} (the input's, with its extension) {stem} {index} {time_ms} {delay_ms} {ext} or %04d, \
      where numbers take a width as in {time_ms:06}, or - for standard output. {index} without a width \
      has as many digits as the last frame's number, and at least four while frames are written as they \
      arrive. Pipes and devices get one frame after another.

      FORMAT y4m is one video with a constant frame rate, at which every frame is shown for exactly its \
      time: frames are repeated. Colours are BT.601 in limited range, without subsampling. Several files \
      take a directory or {stem}. FORMAT ffconcat writes PNG files and, last, a list of them with their \
      durations: DIR/{stem}.ffconcat, or the name given with -o. ffmpeg 5.0 or later plays it with -safe 0 \
      -f concat -i LIST.

      With --unique and --changed-only, frames that are left out stand in the manifest with "same_as", \
      the frame whose picture they show; written ones have "shown_by", all frames that show theirs, and \
      with --changed-only "changed_rect", the rectangle outside of which nothing changed: x, y, width, \
      height.

      FRAMES are counted from 0: 0,3-7 or -1 (the last) or 10- or ::2 (every other, as in Python). \
      They are written in the file's order, each once; ranges must not run backwards.

      From a pipe, and with --follow, each frame is written as soon as its bytes are there; an \
      interruption keeps those frames. Several files, --format y4m and ffconcat, --fps, --static, --cache, \
      --damage strict, frames counted from the end, and output names without {index} need the whole \
      file, which is then read first. The name of each other frame is checked when it arrives.

      Times, on the command line and in names, follow --timing. Exit status for several files: the one \
      they share, else 1; when output fails, that of the failure.

      EXAMPLES:
        zoetrope extract party.gif -o frames/
        zoetrope extract a.png -o 'f-{index:04}-{time_ms}.png' --frames 0,3-7,-1
        zoetrope extract *.gif -o 'all/{name}-{index:04}.{ext}' --size 320x
        curl -s URL | zoetrope extract - -o frames/
      """)

  @Argument(help: .files, completion: .animations)
  var files: [String]

  @OptionGroup(title: "Frames") var selected: SelectionArguments

  @OptionGroup(title: "Frames") var choosing: ChoiceArguments

  @OptionGroup(title: "Output") var writing: WritingArguments

  @OptionGroup(title: "Scaling") var scaling: ScalingArguments

  @OptionGroup(title: "Cache") var caching: CacheArguments

  @OptionGroup(title: "Reading") var following: FollowArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  /// Which of the selected frames are written, and which others.
  struct ChoiceArguments: ParsableArguments {
    @Flag(help: "Each distinct picture once; the manifest says which frames show it.")
    var unique = false

    @Flag(help: "Only frames that differ from the one before; the manifest says where.")
    var changedOnly = false

    @Option(
      parsing: .unconditional,
      help: "Resample one play to a constant frame rate, repeating frames; {index} counts pictures."
    )
    var fps: PictureRate?

    @Option(
      name: .customLong("static"),
      help: "What happens to an APNG's static image that is not a frame.")
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

    @Option(help: "How frames are written.")
    var format = ExtractionFormat.png

    @Option(help: "How hard PNG files are made small.")
    var compression = CompressionChoice.default

    @Option(help: "Bits per channel: 8, or 16 (little-endian in raw pixels).")
    var depth = 8

    @Flag(help: "Write frames as stored, not composited.")
    var raw = false

    @Option(
      name: .customLong("bg"), help: "With --format y4m: what is behind transparent pixels.")
    var background = BackgroundArgument(color: .black)

    @Option(
      help: "Write frames, times and file names as JSON, one line per input; - is standard output.",
      completion: .file())
    var manifest: String?

    @Flag(help: "Replace existing files.")
    var force = false

    @Flag(help: "Write only missing files; refused if others are older than FILE.")
    var resume = false

    @Option(
      name: [.customShort("j", allowingJoined: true), .long], parsing: .unconditional,
      help: "Threads. (default: one per processor)")
    var jobs: Int?

    @Option(help: "How progress is shown on standard error.")
    var progress = ProgressStyle.auto

    @Flag(name: .shortAndLong, help: "No progress and no warnings.")
    var quiet = false

    func validate() throws {
      guard background.color.alpha != 0 else {
        throw ValidationError("--bg is black, white or a colour such as 336699: video has no alpha")
      }
      guard jobs.map({ (1...1024).contains($0) }) ?? true else {
        throw ValidationError("--jobs must be a number from 1 to 1024")
      }
      guard depth == 8 || depth == 16 else { throw ValidationError("--depth is 8 or 16") }
      guard !(force && resume) else {
        throw ValidationError("--force replaces files and --resume keeps them: choose one")
      }
      if format == .rgba || format == .y4m, compression != .default {
        throw ValidationError("--compression is for PNG")
      }
      if format != .y4m, background != BackgroundArgument(color: .black) {
        throw ValidationError("--bg wants --format y4m; other formats keep transparent pixels")
      }
      if manifest == "" { throw ValidationError("the manifest's name is empty") }
    }
  }

  func validate() throws {
    try following.check(files)
    guard !writing.raw || scaling.size == nil else {
      throw ValidationError("--raw keeps each frame's own size: leave out --size")
    }
    guard !writing.raw || caching.cache == .none else {
      throw ValidationError("--cache keeps composited frames, not those of --raw")
    }
    if choosing.fps != nil {
      guard selected.frames == nil, selected.time == nil, selected.every == 1, !writing.raw,
        choosing.staticImage == .skip, writing.manifest == nil
      else {
        throw ValidationError(
          "--fps resamples a whole play: no --frames, --time, --every, --raw, --static or "
            + "--manifest with it")
      }
      guard writing.format != .ffconcat, choosing.pictures == .all else {
        throw ValidationError(
          "--fps repeats frames: no --format ffconcat, --unique or --changed-only with it")
      }
    }
    switch writing.format {
    case .png, .rgba: break
    case .y4m:
      guard !writing.raw, choosing.staticImage == .skip, writing.depth == 8,
        writing.manifest == nil, !writing.resume, choosing.pictures == .all
      else {
        throw ValidationError(
          "--format y4m is one file of whole frames: no --raw, --static, --depth, --manifest, "
            + "--resume, --unique or --changed-only with it")
      }
    case .ffconcat:
      guard !writing.raw, choosing.staticImage == .skip else {
        throw ValidationError("--format ffconcat lists whole frames: no --raw or --static with it")
      }
    }
  }

  /// The command as a value.
  var request: ExtractRequest {
    var options = reading.options
    options.keeps16Bit = writing.depth == 16
    var cache = caching.settings
    cache.isQuiet = writing.quiet
    cache.reportsJSON = writing.progress == .json
    return ExtractRequest(
      files: files, output: writing.output, selection: selected.selection, rate: choosing.fps,
      isRaw: writing.raw, rendering: scaling.rendering, format: writing.format,
      effort: writing.compression.effort, choice: choosing.pictures,
      background: writing.background.color, staticImage: choosing.staticImage,
      manifest: writing.manifest, policy: selected.timing.policy, jobs: writing.jobs ?? 0,
      isForced: writing.force, isResuming: writing.resume, isFollowing: following.follow,
      followTimeout: following.followTimeout?.time, progress: writing.progress,
      isQuiet: writing.quiet, cache: cache, options: options)
  }

  var reportsJSON: Bool { request.reportsJSON }

  func execute() throws(CommandFailure) -> ExitStatus { try request.run() }
}
