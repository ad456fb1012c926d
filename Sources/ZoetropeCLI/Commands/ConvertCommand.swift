import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// `zoetrope convert`.
struct ConvertCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Cut, retime, crop and convert animations without loss.",
    discussion: """
      OUTPUT is a file, whose name ends in .gif, .png or .apng, a directory that exists or ends in a \
      slash (files are called {stem}.gif or {stem}.png, with --format), a template with {name} (the \
      input's, with its extension), {stem} and {ext}, a pipe or device, or - for standard output, which \
      has the input's format without --format. Several files need a directory, or {stem} or {name} in \
      the template.

      Options combine. They apply in this order: --frames or --time, --reverse, --back-and-forth, \
      --speed, --duration or --delay, --fps, --crop, --size. Frames that are left out take their time \
      with them; --fps keeps the duration. A cut within a frame's time shortens its delay.

      What is shown stays as it was, to the pixel. While format and size stay, compressed frames are \
      copied and only those at seams are encoded anew: other speeds, delays, plays and ends cost no more \
      than copying the file. Where the format cannot hold the result, nothing is written: a GIF has at most \
      256 colours where a frame changes, and no partly transparent pixels. Its delays are rounded to \
      hundredths of a second without drift; frames that would be shown for less than 20 ms, which \
      browsers show for 100 ms, are left out, and others shown longer.

      One line tells the bytes before and after, how many frames were copied and encoded, and "exact" or \
      what is not. --plan tells it beforehand, with the reason for every frame. Existing files are not \
      overwritten without --force, with which a file may also take the place of its own input; no \
      partial file ever has a final name. Exit status for several files: the one they share, else 1; when \
      output fails, that of the failure.

      EXAMPLES:
        zoetrope convert party.gif -o party.png
        zoetrope convert party.gif -o short.gif --time 1s-3s --speed 2
        zoetrope convert *.gif -o apng/ --format apng --size 240x
        zoetrope convert party.gif -o tail.gif --frames 12- --plan
      """)

  @Argument(help: .files, completion: .animations)
  var files: [String]

  @OptionGroup(title: "Frames") var cut: CutArguments

  @OptionGroup(title: "Changes") var change: ChangeArguments

  @OptionGroup(title: "Output") var writing: AnimationWritingArguments

  @OptionGroup(title: "Output") var planning: PlanArguments

  @OptionGroup(title: "Scaling") var scaling: ScalingArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  struct PlanArguments: ParsableArguments {
    @Flag(help: "Only tell what would be copied and encoded, and why.")
    var plan = false
  }

  /// The command as a value.
  var request: ConvertRequest {
    ConvertRequest(
      files: files, output: writing.output, edits: EditChoices(cut, change),
      rendering: scaling.rendering, form: writing.choices, policy: cut.timing.policy,
      isPlan: planning.plan, reporting: writing.reporting, options: reading.options)
  }

  var reportsJSON: Bool { request.reporting.isJSON }

  func execute() throws(CommandFailure) -> ExitStatus { try request.run() }
}

/// The options of commands that write animations.
struct AnimationWritingArguments: ParsableArguments {
  @Option(
    name: [.customShort("o", allowingJoined: true), .long],
    help: "A file, a directory, a template, or - for standard output.",
    completion: .file())
  var output: String

  @Option(
    help: ArgumentHelp(
      "The format of the output. (default: as its name says)",
      argumentType: AnimationFormatChoice.self))
  var format: AnimationFormatChoice?

  @Option(help: "How hard new frames of PNG are made small.")
  var effort = CompressionChoice.default

  @Flag(help: "Keep delays below 20 ms in GIF, which browsers show for 100 ms.")
  var exactDelays = false

  @Flag(help: "Keep the colours of fully transparent pixels, which nothing shows.")
  var hiddenColors = false

  @Flag(help: "Replace existing files.")
  var force = false

  @Flag(help: "Print one JSON object per line and output.")
  var json = false

  @Option(
    name: [.customShort("j", allowingJoined: true), .long], parsing: .unconditional,
    help: "Threads. (default: one per processor)")
  var jobs: Int?

  @Option(help: "How progress is shown on standard error.")
  var progress = ProgressStyle.auto

  @Flag(name: .shortAndLong, help: "No progress, no warnings and no line at the end.")
  var quiet = false

  func validate() throws {
    guard jobs.map({ (1...1024).contains($0) }) ?? true else {
      throw ValidationError("--jobs must be a number from 1 to 1024")
    }
  }

  var choices: WritingChoices {
    WritingChoices(
      format: format, effort: effort.effort, keepsShortDelays: exactDelays,
      keepsHiddenColors: hiddenColors, jobs: jobs ?? 0, isForced: force)
  }

  var reporting: ConversionReporting {
    ConversionReporting(isJSON: json, isQuiet: quiet, progress: progress)
  }
}
