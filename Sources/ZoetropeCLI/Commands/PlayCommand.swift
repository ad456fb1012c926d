import ArgumentParser
import Glibc
import SystemPackage
import Zoetrope
import ZoetropePlayer
import ZoetropeProcess
import ZoetropeTerminal

/// The command `zoetrope play`.
struct PlayCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Play files in the terminal, on time.",
    usage: "zoetrope play [options] <files> ...",
    discussion: """
      On a terminal, a single file plays as often as it specifies, and its last frame stays until \
      you press a key; several files play once each. Press ? to see the keys. Without a terminal, \
      one frame is written as characters. Short delays are lengthened as in browsers unless \
      --timing says otherwise. NO_MOTION or ZOETROPE_REDUCED_MOTION in the environment implies \
      --no-motion.

      With --protocol none nothing is drawn. Frames are decoded on schedule, for one play unless \
      --loops or --duration is given. At the end, or after Ctrl-C, statistics are printed. With \
      --trace, a trace is written too; if the trace goes to standard output, no statistics are \
      printed.

      A pipe plays while its bytes arrive, and so does a file with --follow. The status line shows \
      how much has arrived; a second play begins only when the animation is complete. With any of \
      the following, the whole file is read first: --cache, --damage strict, a time for --start, \
      and a frame counted from the end for --start or --frame.

      With --place the file plays in part of a terminal that another program is using. Terminate \
      the process to end playback and remove the picture. The terminal is not queried and no keys \
      are read; without --protocol, the way of drawing is chosen from the environment. Output may \
      be a pipe.

      Frame numbers start at 0 in options, in JSON and in the names of extracted and saved files. \
      In the player they start at 1, both on the screen and when you type them.

      Put default options into $XDG_CONFIG_HOME/zoetrope/config (~/.config/zoetrope/config), one \
      per line, as in protocol=sixel. The command line overrides them. ZOETROPE_CONFIG names \
      another file; set it to an empty string to read none.

      EXAMPLES:
        zoetrope play party.gif
        curl -s URL | zoetrope play -
        zoetrope play sprite.png --fit integer --bg checker --loops inf
        zoetrope play party.gif --protocol none --trace trace.json
      """)

  @Argument(
    help: .files, completion: .animations)
  var files: [String] = []

  @OptionGroup(title: "Files") var listing: FileArguments

  @OptionGroup(title: "Drawing") var drawing: DrawingArguments

  @OptionGroup(title: "Drawing") var screen: ScreenArguments

  @OptionGroup(title: "Playing") var playing: PlayingArguments

  @OptionGroup(title: "Trace") var tracing: TraceArguments

  @OptionGroup(title: "Previews") var preview: PlaceArguments

  @OptionGroup(title: "Cache") var caching: CacheArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  struct ScreenArguments: ParsableArguments {
    @Option(help: "How to fit the picture to the screen.")
    var fit = FitArgument.auto

    @Option(help: "The filter for scaling graphics.")
    var filter = FilterArgument.auto

    @Flag(name: .customLong("no-status"), help: "Hide the status line below the picture.")
    var hidesStatus = false

    @Flag(
      name: .customLong("inline"),
      help: "Draw below the prompt, leave the picture there, and quit when playing ends.")
    var isInline = false

    @Flag(name: .customLong("exact"), help: "Send every change to the terminal, however small.")
    var isExact = false

    @Option(
      parsing: .unconditional, help: "Draw this frame inline and quit; -1 for the last.")
    var frame: FrameNumber?

    @Flag(
      name: .customLong("no-motion"),
      help: "Show one frame instead of playing.")
    var hasNoMotion = false

    @Flag(name: .customLong("no-mouse"), help: "Leave the mouse to the terminal.")
    var ignoresMouse = false

    @Flag(name: .customLong("no-config"), help: "Do not read the configuration file.")
    var ignoresConfiguration = false
  }

  struct PlayingArguments: ParsableArguments {
    @Flag(help: "Play once, then quit.")
    var once = false

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("How often to play. (default: file)", argumentType: LoopsArgument.self))
    var loops: LoopsArgument?

    @Flag(help: "Keep the last frame of each file until a key is pressed.")
    var hold = false

    @Flag(help: "Play the files in random order.")
    var shuffle = false

    @Option(
      parsing: .unconditional,
      help: "Start at this frame (-1 for the last) or time, as in 1.5s.")
    var start: PlayStart?

    @Option(parsing: .unconditional, help: "The speed; 2 is twice as fast.")
    var speed = 1.0

    @Flag(help: "Play backwards.")
    var reverse = false

    @Flag(help: "Reverse the direction at the end of each play.")
    var bounce = false

    @Option(help: "What to do with late frames.")
    var late = LateArgument(policy: .skip)

    @Option(parsing: .unconditional, help: "Show every frame for this many milliseconds.")
    var delay: UInt32?

    @Option(help: .timing)
    var timing = TimingArgument(policy: .browser)

    @Option(
      parsing: .unconditional,
      help: "Stop after this much wall-clock time: 10, 10s or 500ms.")
    var duration: TimeArgument?

    @Flag(help: "Play a file while it is being written.")
    var follow = false

    func validate() throws {
      guard PlaybackSpeed.range.contains(speed) else {
        throw ValidationError("--speed must be a number from 0.001 to 1000")
      }
      guard !once || loops == nil else {
        throw ValidationError("--once and --loops cannot be combined")
      }
    }

    /// Whether any option is given that has no effect if only one frame is drawn.
    var isPlaybackGiven: Bool {
      start != nil || loops != nil || speed != 1 || reverse || bounce || delay != nil
    }
  }

  struct TraceArguments: ParsableArguments {
    @Option(
      help:
        "Write the timing of the last file as JSON; - for stdout.",
      completion: .file())
    var trace: String?

    @Flag(help: "Let the trace replace an existing file.")
    var force = false

    func validate() throws {
      if trace == "" { throw ValidationError("the name of the trace is empty") }
    }
  }

  func validate() throws {
    if preview.clear {
      guard files.isEmpty, listing.names.filesFrom == nil else {
        throw ValidationError("--clear takes no file")
      }
      return
    }
    try checkPreview()
    if screen.frame != nil, playing.isPlaybackGiven {
      throw ValidationError(
        "--frame draws one frame; it cannot be combined with --start, --loops, --speed, --reverse, "
          + "--bounce or --delay")
    }
    if playing.follow {
      guard files.count == 1 else { throw ValidationError("--follow works with one file only") }
      guard inputReading == .following else {
        throw ValidationError(
          "--follow cannot be combined with --cache or --damage strict; --start and --frame take "
            + "only frame numbers, counted from 0, when --follow is given")
      }
    }
    try listing.check(files)
  }

  private func checkPreview() throws {
    guard let place = preview.place else {
      if preview.cell != nil { throw ValidationError("--cell requires --place") }
      return
    }
    guard place.hasPosition else {
      throw ValidationError("play requires a position in --place: COLSxROWS@X,Y")
    }
    guard files.count == 1 else { throw ValidationError(Self.placeConflict) }
    guard drawing.output != ProtocolArgument.none, !screen.isInline, screen.frame == nil,
      tracing.trace == nil
    else {
      throw ValidationError(
        "--place cannot be combined with --protocol none, --inline, --frame or --trace; to draw "
          + "one frame, use zoetrope still")
    }
  }

  private static let placeConflict = "--place works with one file only"

  func execute() throws(CommandFailure) -> ExitStatus {
    FrameMemory.returnsAtOnce()
    if preview.clear {
      try PictureDrawing.clear(previewSettings)
      return .success
    }
    var inputs = try listing.inputs(files)
    if playing.follow { try FollowArguments.check(inputs) }
    if preview.place != nil, inputs.count != 1 { throw .usage(Self.placeConflict) }
    if playing.shuffle { inputs.shuffle() }
    let isDumb = TerminalCapabilities(environment: .current).isDumb
    let isPlayed = isUndrawn || isatty(STDOUT_FILENO) == 1 && !isDumb
    try checkTrace(inputs, isPlayed: isPlayed)
    let store = caching.settings.open()
    defer { caching.settings.reportFailure(of: store) }
    let settings = settings(store, fileCount: inputs.count)
    if preview.place != nil {
      return PreviewPlay.run(inputs[0], settings: settings, preview: previewSettings)
    }
    if isUndrawn { return playWithoutDrawing(inputs, settings) }
    guard isPlayed else {
      return StillOutput(inputs, settings: settings).run()
    }
    return TerminalPlay(inputs, settings: settings).run()
  }

  /// Checks, before anything is played, whether a trace can be written.
  private func checkTrace(_ inputs: [InputFile], isPlayed: Bool) throws(CommandFailure) {
    guard let trace else { return }
    guard isPlayed else {
      throw .usage("--trace requires a terminal, or --protocol none")
    }
    guard trace != "-" else { return }
    let path = try OutputFile.path(ofFile: trace)
    try InputIdentities(inputs).check(path)
    if !tracing.force, OutputFile.isTaken(path) { throw WriteFailure.exists(trace).commandFailure }
  }

  /// Where the trace is written, or nil if there is none. The name `-` means standard output.
  private var trace: String? { tracing.trace.map(OutputStream.canonicalName) }

  /// Whether frames are only decoded on schedule and not drawn.
  private var isUndrawn: Bool { drawing.output == ProtocolArgument.none }

  private var first: PlayStart? { screen.frame.map { .frame($0.number) } ?? playing.start }

  /// How much of an input is read before it is played. Some options need the whole file.
  private var inputReading: InputReading {
    guard caching.cache == .none, reading.damage != .strict, first?.isKnownAtOnce ?? true else {
      return .whole
    }
    return playing.follow ? .following : .arriving
  }

  private var isStandingStill: Bool { screen.hasNoMotion || MotionPreference.isReduced }

  private func playback(fileCount: Int) -> PlaybackOptions {
    var options = PlaybackOptions()
    options.playCount = playing.once ? .once : playing.loops?.playCount
    // Without a screen and keys, a file that plays forever would never end.
    if isUndrawn, !playing.once, playing.loops == nil, playing.duration == nil {
      options.playCount = .once
    }
    // Several files play once each, unless the user specifies otherwise.
    if fileCount > 1, options.playCount == nil { options.playCount = .once }
    options.fixedDelay = playing.delay.map { .milliseconds(Int($0)) }
    options.delayPolicy = playing.timing.policy
    options.rate = playing.speed
    options.direction = playing.reverse ? .backward : .forward
    options.bounces = playing.bounce
    options.latePolicy = playing.late.policy
    options.recordsTrace = tracing.trace != nil
    // If the policy is to show late frames, these frames must not replace each other in the buffer.
    if options.latePolicy != .skip, options.latePolicy != .latest { options.buffering = .lossless }
    options.reducesMotion = isStandingStill || screen.frame != nil
    return options
  }

  func settings(_ store: FrameStore?, fileCount: Int? = nil) -> PlayerSettings {
    var settings = PlayerSettings()
    settings.mode = drawing.output?.mode
    settings.colors = drawing.colors?.depth
    settings.passthrough = drawing.passthrough?.passthrough
    settings.backdrop = drawing.backdrop ?? .terminal
    settings.fit = screen.fit.fit
    settings.filter = screen.filter.filter
    settings.usesMouse = !screen.ignoresMouse
    settings.showsStatus = !screen.hidesStatus && screen.frame == nil
    settings.isInline = screen.isInline || screen.frame != nil
    settings.isExact = screen.isExact
    settings.isStill = screen.frame != nil
    // A file that is not played because motion is off would otherwise end immediately.
    settings.holds =
      playing.hold
      ? true
      : playing.once || screen.frame != nil || screen.isInline
        ? false
        : isStandingStill ? true : playing.loops?.isFinite == true ? false : nil
    settings.wallTime = playing.duration?.time
    settings.start = first
    settings.playback = playback(fileCount: fileCount ?? files.count)
    settings.decoding = reading.options
    settings.reading = inputReading
    settings.store = store
    settings.trace = trace
    settings.isForced = tracing.force
    return settings
  }

  private var previewSettings: PreviewSettings {
    var settings = drawing.settings(at: preview)
    settings.fit = screen.fit.fit ?? .fit
    settings.isExact = screen.isExact
    return settings
  }

  private func playWithoutDrawing(
    _ inputs: [InputFile], _ settings: PlayerSettings
  ) -> ExitStatus {
    var statuses: [ExitStatus] = []
    for (place, input) in inputs.enumerated() where Signals.ending == nil {
      var settings = settings
      // The trace of each file replaces the trace of the file before it, so that the last one remains. On standard
      // output, nothing can be replaced.
      settings.isForced = tracing.force || !statuses.isEmpty
      settings.writesTrace = trace != "-" || place == inputs.count - 1
      statuses.append(UndrawnPlay(input, settings: settings).run())
    }
    return Signals.ending ?? .combined(statuses)
  }
}
