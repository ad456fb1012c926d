import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// The options that name the outputs of commands which write one animation per input.
struct OutputNameArguments: ParsableArguments {
  @Option(
    name: [.customShort("o", allowingJoined: true), .long],
    help: "A file, a directory, a template, or - for standard output.",
    completion: .file())
  var output: String

  @Flag(help: "Skip inputs whose output exists; fail if an output is older than its input.")
  var resume = false

  /// Throws if options contradict each other.
  func check(_ writing: AnimationOutputArguments) throws {
    guard !(resume && writing.force) else {
      throw ValidationError("--force and --resume cannot be combined")
    }
  }
}

/// The options for writing and reporting animations, shared by all commands that write animations.
struct AnimationOutputArguments: ParsableArguments {
  @Option(help: "How much time to spend on making the file smaller.")
  var effort = EffortChoice.default

  @Option(parsing: .unconditional, help: .lossy)
  var lossy: ToleranceArgument?

  @Flag(help: "Replace existing files.")
  var force = false

  @Flag(help: "Print one line of JSON per output.")
  var json = false

  @OptionGroup var threads: ThreadArguments

  @Option(help: "How progress is shown on standard error.")
  var progress = ProgressStyle.auto

  @Flag(name: .shortAndLong, help: "Print no progress, no warnings and no reports.")
  var quiet = false

  var reporting: ConversionReporting {
    ConversionReporting(isJSON: json, isQuiet: quiet, progress: progress)
  }
}

/// The options for the form of animations that are encoded anew.
struct AnimationFormArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The format of the output. (default: by its extension)",
      argumentType: AnimationFormat.self))
  var format: AnimationFormat?

  @Flag(help: "Keep short delays, which browsers raise to 100 ms.")
  var exactDelays = false

  @Flag(help: "Keep the colours of fully transparent pixels.")
  var hiddenColors = false

  func choices(
    _ output: AnimationOutputArguments, _ colors: ColorArguments
  ) -> WritingChoices {
    WritingChoices(
      format: format, effort: output.effort.effort, tolerance: output.lossy?.tolerance ?? 0,
      keepsShortDelays: exactDelays, keepsHiddenColors: hiddenColors, reduction: colors.reduction,
      jobs: output.threads.count, isForced: output.force)
  }
}
