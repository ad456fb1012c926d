import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// `zoetrope optimize`.
struct OptimizeCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "optimize",
    abstract: "Make GIF and APNG files smaller without loss.",
    usage: "zoetrope optimize [options] <files> ... -o <output>",
    discussion: """
      Every picture, every delay and the number of plays stay the same. A file never becomes larger: one \
      that cannot be made smaller is copied.

      OUTPUT is a file, a directory, a template, a pipe or device, or - for standard output. A directory \
      exists or ends in a slash; files in it keep their names. A template may contain {name} (the input's \
      name with its extension), {stem} and {ext}. Several files need a directory, or {stem} or {name} in \
      the template. The format is that of the input.

      For a GIF, each frame is stored in the way that takes the fewest bytes: rectangle, colour table, \
      transparent pixels, disposal and compressed data are chosen anew, or copied from the input. \
      --effort default decides by estimates, --effort small tries all ways. The output does not depend on \
      the number of threads.

      One line reports the sizes before and after. Existing files are overwritten only with --force, \
      which also allows a file to replace its own input. Files appear only when complete. The exit status \
      for several files is the one they share, else 1; if output fails, that of the failure.

      EXAMPLES:
        zoetrope optimize party.gif -o small.gif
        zoetrope optimize *.gif -o optimized/ --effort small
        zoetrope optimize party.gif -o party.gif --force --strip
      """)

  @Argument(help: .files, completion: .animations)
  var files: [String]

  @OptionGroup(title: "Output") var writing: OptimizingArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  /// The options of the output.
  struct OptimizingArguments: ParsableArguments {
    @Option(
      name: [.customShort("o", allowingJoined: true), .long],
      help: "A file, a directory, a template, or - for standard output.",
      completion: .file())
    var output: String

    @Option(help: "How much time to spend on fewer bytes.")
    var effort = CompressionChoice.default

    @Option(parsing: .unconditional, help: .lossy)
    var lossy: ToleranceArgument?

    @Flag(help: "Leave out comments, profiles and other metadata.")
    var strip = false

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
  }

  /// The command as a value.
  var request: OptimizeRequest {
    OptimizeRequest(
      files: files, output: writing.output,
      optimizing: OptimizingOptions(
        effort: writing.effort.effort, tolerance: writing.lossy?.tolerance ?? 0,
        stripsMetadata: writing.strip,
        parallelism: writing.jobs ?? 0),
      isForced: writing.force,
      reporting: ConversionReporting(
        isJSON: writing.json, isQuiet: writing.quiet, progress: writing.progress),
      options: reading.options)
  }

  var reportsJSON: Bool { writing.json }

  func execute() throws(CommandFailure) -> ExitStatus { try request.run() }
}
