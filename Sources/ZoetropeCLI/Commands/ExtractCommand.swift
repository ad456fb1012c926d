import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// `zoetrope extract`.
struct ExtractCommand: ZoetropeSubcommand, ScalingArguments, CacheArguments, DecodingArguments {
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

  @Argument(help: "GIF or PNG files; - reads standard input.", completion: .animations)
  var files: [String]

  @Option(
    name: [.customShort("o", allowingJoined: true), .long],
    help: "A directory, a template, or - for standard output.",
    completion: .file())
  var output: String

  @Option(
    parsing: .unconditional, help: "Which frames, such as 0,3-7,-1,10-,::2.",
    transform: Self.selector)
  var frames: FrameSelector?

  @Option(
    parsing: .unconditional,
    help: "Frames shown in a time range, such as 1.5s-3s, 500ms-, -200ms or 2s.")
  var time: TimeRange?

  @Option(parsing: .unconditional, help: "Every Nth of the selected frames.")
  var every = 1

  @Option(parsing: .unconditional, help: "At most this many frames.")
  var max: Int?

  @Option(
    parsing: .unconditional,
    help: """
      Resample one play to a constant frame rate, repeating frames; {index} counts pictures.
      """)
  var fps: PictureRate?

  @Flag(help: "Write frames as stored, not composited.")
  var raw = false

  @Option(help: "How frames are written.")
  var format = ExtractionFormat.png

  @Option(help: "How hard PNG files are made small.")
  var compression = CompressionChoice.default

  @Flag(help: "Each distinct picture once; the manifest says which frames show it.")
  var unique = false

  @Flag(help: "Only frames that differ from the one before; the manifest says where.")
  var changedOnly = false

  @Option(
    name: .customLong("bg"),
    help: "With --format y4m: what is behind transparent pixels.")
  var background = BackgroundArgument(color: .black)

  @Option(
    help: "Bits per channel: 8, or 16 (little-endian in raw pixels).")
  var depth = 8

  @Option(
    name: .customLong("static"),
    help: "What happens to an APNG's static image that is not a frame.")
  var staticImage = StaticImageChoice.skip

  @Option(
    help: "Write frames, times and file names as JSON, one line per input; - is standard output.",
    completion: .file())
  var manifest: String?

  @Option(
    name: [.customShort("j", allowingJoined: true), .long], parsing: .unconditional,
    help: "Threads. (default: one per processor)")
  var jobs: Int?

  @Flag(help: "Replace existing files.")
  var force = false

  @Flag(
    help: "Write only missing files; refused if others are older than FILE.")
  var resume = false

  @Flag(help: "Read a file while it is being written.")
  var follow = false

  @Option(parsing: .unconditional, help: .followTimeout)
  var followTimeout: TimeArgument?

  @Option(help: "How progress is shown on standard error.")
  var progress = ProgressStyle.auto

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
    guard !(unique && changedOnly) else {
      throw ValidationError(
        "--unique leaves out unchanged frames too: choose one of --changed-only")
    }
    guard background.color.alpha != 0 else {
      throw ValidationError("--bg is black, white or a colour such as 336699: video has no alpha")
    }
    try checkScaling()
    try checkCache()
    try FollowedFiles.check(files, isFollowing: follow, timeout: followTimeout)
    guard every >= 1 else { throw ValidationError("--every must be a number from 1 up") }
    guard max ?? 1 >= 1 else { throw ValidationError("--max must be a number from 1 up") }
    guard jobs.map({ (1...1024).contains($0) }) ?? true else {
      throw ValidationError("--jobs must be a number from 1 to 1024")
    }
    guard !raw || size == nil else {
      throw ValidationError("--raw keeps each frame's own size: leave out --size")
    }
    guard !raw || cache == .none else {
      throw ValidationError("--cache keeps composited frames, not those of --raw")
    }
    guard depth == 8 || depth == 16 else { throw ValidationError("--depth is 8 or 16") }
    guard !(force && resume) else {
      throw ValidationError("--force replaces files and --resume keeps them: choose one")
    }
    if fps != nil {
      guard frames == nil, time == nil, every == 1, !raw, staticImage == .skip, manifest == nil
      else {
        throw ValidationError(
          "--fps resamples a whole play: no --frames, --time, --every, --raw, --static or "
            + "--manifest with it")
      }
      guard format != .ffconcat, choice == .all else {
        throw ValidationError(
          "--fps repeats frames: no --format ffconcat, --unique or --changed-only with it")
      }
    }
    try validateFormat()
    if let manifest, manifest.isEmpty { throw ValidationError("the manifest's name is empty") }
  }

  /// Refuses what the format cannot hold.
  private func validateFormat() throws {
    if format == .rgba || format == .y4m, compression != .default {
      throw ValidationError("--compression is for PNG")
    }
    if format != .y4m, background != BackgroundArgument(color: .black) {
      throw ValidationError("--bg wants --format y4m; other formats keep transparent pixels")
    }
    switch format {
    case .png, .rgba: break
    case .y4m:
      guard !raw, staticImage == .skip, depth == 8, manifest == nil, !resume,
        choice == .all
      else {
        throw ValidationError(
          "--format y4m is one file of whole frames: no --raw, --static, --depth, --manifest, "
            + "--resume, --unique or --changed-only with it")
      }
    case .ffconcat:
      guard !raw, staticImage == .skip else {
        throw ValidationError("--format ffconcat lists whole frames: no --raw or --static with it")
      }
    }
  }

  static func selector(_ text: String) throws -> FrameSelector {
    if let selector = FrameSelector(text) { return selector }
    throw ValidationError(
      "frames are chosen as in 0,3-7,-1,10-,::2; they come in the file's order, so no range runs "
        + "backwards")
  }

  /// Which pictures are written.
  private var choice: PictureChoice { unique ? .unique : changedOnly ? .changed : .all }

  /// The command as a value.
  var request: ExtractRequest {
    var options = decoding
    options.keeps16Bit = depth == 16
    var cache = cacheSettings
    cache.isQuiet = quiet
    cache.reportsJSON = progress == .json
    return ExtractRequest(
      files: files, output: output,
      selection: FrameSelection(
        frames: frames, time: time, every: every, maximum: max ?? .max),
      rate: fps, isRaw: raw, rendering: rendering, format: format,
      effort: compression.effort, choice: choice,
      background: background.color, staticImage: staticImage, manifest: manifest,
      policy: timing.policy, jobs: jobs ?? 0,
      isForced: force, isResuming: resume, isFollowing: follow,
      followTimeout: followTimeout?.time, progress: progress, isQuiet: quiet,
      cache: cache,
      options: options)
  }

  func execute() -> ExitStatus { request.run() }
}
