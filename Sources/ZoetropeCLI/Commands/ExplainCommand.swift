import ArgumentParser
import Zoetrope
import ZoetropeExplain
import ZoetropeProcess

/// The command `zoetrope explain`.
struct ExplainCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Predict how browsers and other programs play a file.",
    usage: "zoetrope explain [options] <files> ...",
    discussion: """
      For each program this shows how often it plays the file, how long one play takes, which \
      delays it changes, and the first frame, counted from 0, that looks different from \
      Zoetrope's. -v lists the rules that had an effect, with their sources. A rule marked \
      "measured" was compared with the version of the program that is shown; a rule marked \
      "reported" comes from the program's source code or documentation. All frames are decoded if \
      the programs include chromium, ffmpeg, pillow or imagemagick.

      --json prints one line of JSON per file (schema zoetrope.explain/2) with all rules; \
      "applies" marks those that had an effect. In "difference", the "outcome" is one of four \
      words: none, differs, unpredicted (the pictures from "frame" on cannot be predicted) or \
      unknown (no rule predicts a difference).

      EXAMPLES:
        zoetrope explain party.gif
        zoetrope explain sticker.png --as chromium,ffmpeg --json
      """)

  @Argument(help: .files, completion: .animations)
  var files: [String] = []

  @OptionGroup(title: "Files") var listing: FileArguments

  @OptionGroup(title: "Report") var report: ReportArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  struct ReportArguments: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "The programs, separated by commas. (default: all)", valueName: "programs",
        argumentType: ProgramsArgument.self))
    var `as`: ProgramsArgument?

    @Flag(name: .shortAndLong, help: "Also list the rules that had an effect, with their sources.")
    var verbose = false

    @Flag(help: .json)
    var json = false
  }

  func validate() throws { try listing.check(files) }

  func execute() throws(CommandFailure) -> ExitStatus {
    let (options, json) = (reading.options, report.json)
    let programs = report.as?.programs ?? Programs.all
    return CommandRunner.forEach(
      try listing.inputs(files), asJSON: json, schema: ExplanationReport.schema, isBrief: true
    ) { (input, _) throws(CommandFailure) in
      let image = try input.open(options)
      let explanation = try Signals.whileCaught { () throws(CommandFailure) in
        do throws(AnimatedImageError) {
          return try Explanation(of: image, programs: programs) { Signals.ending != nil }
        } catch {
          if let failure = CommandFailure.interruption(file: input.name) { throw failure }
          throw CommandFailure(error, file: input.name, damage: options.damage)
        }
      }
      let report = ExplanationReport(input: input, explanation: explanation)
      let output =
        json
        ? CommandRunner.line { report.write(to: &$0) }
        : Array(report.text(showsRules: self.report.verbose).utf8)
      return InputOutcome(
        status: .success, output: output,
        condition: InputCondition(hasLosses: image.damage.contains { !$0.kind.isTolerated }),
        frameCount: image.frames.count)
    }
  }
}

/// The value of `--as`: the names of programs, separated by commas.
struct ProgramsArgument: ExpressibleByArgument {
  let programs: [Program]

  /// Parses a list of names. Returns nil if any name is unknown or empty.
  init?(argument: String) {
    var programs: [Program] = []
    for name in argument.split(separator: ",", omittingEmptySubsequences: false) {
      guard let program = Programs.all.first(where: { $0.id == name }) else { return nil }
      if !programs.contains(program) { programs.append(program) }
    }
    self.programs = programs
  }

  static var defaultCompletionKind: CompletionKind {
    .custom { _, _, typed in completions(of: typed) }
  }

  /// Returns the completions of `typed`. Each of them consists of the names before the last comma and one further name.
  static func completions(of typed: String) -> [String] {
    let names = typed.split(separator: ",", omittingEmptySubsequences: false).dropLast()
    let start = names.map { "\($0)," }.joined()
    return Programs.all.map(\.id).filter { id in !names.contains { $0 == id } }.map { start + $0 }
  }
}
