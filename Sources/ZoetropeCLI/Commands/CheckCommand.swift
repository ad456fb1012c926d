import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The command `zoetrope check`.
struct CheckCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Decode everything and report damage: where it is and what is lost.",
    usage: "zoetrope check [options] <files> ...",
    discussion: """
      Exit status: 0 nothing is lost, 1 some data is lost, 3 nothing can be decoded. With \
      --strict, the status is 6 for any deviation from the format, even a harmless one. The \
      checksums of PNG chunks that hold nothing to read, such as unknown chunks, are not checked. If \
      several files are given and their statuses differ, the exit status is 1.

      If a finding occurs several times, it is shown once, with the number of the others; --json \
      lists each occurrence. Results are printed as soon as a file is done. --json prints one line \
      of JSON per file, in order (schema zoetrope.check/3), with the size in bytes and in pixels, \
      the number of frames, the plays and the duration, as info prints them with browser timing. \
      For a file that cannot be decoded, the object has an "error" with "code", "message", \
      "byte_offset" and "frame".

      EXAMPLES:
        zoetrope check upload.gif --limits strict
        zoetrope check --strict --json *.png
      """)

  @Argument(help: .files, completion: .animations)
  var files: [String] = []

  @OptionGroup(title: "Files") var listing: FileArguments

  @OptionGroup(title: "Report") var report: ReportArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  struct ReportArguments: ParsableArguments {
    @Flag(help: "Fail on any deviation from the format, even a harmless one.")
    var strict = false

    @Flag(help: .json)
    var json = false
  }

  func validate() throws { try listing.check(files) }

  func execute() throws(CommandFailure) -> ExitStatus {
    let (json, strict) = (report.json, report.strict)
    return CommandRunner.forEach(
      try listing.inputs(files), asJSON: json, schema: DamageReport.schema
    ) { (input, progress) throws(CommandFailure) in
      let image = try input.open(reading.options)
      // Signals are caught, so that an interruption leaves no progress line on the terminal.
      let report = try Signals.whileCaught { () throws(CommandFailure) in
        try DamageReport(of: image, input: input, progress)
      }
      let output = json ? CommandRunner.line { report.write(to: &$0) } : Array(report.text.utf8)
      return InputOutcome(
        status: report.status(isStrict: strict), output: output,
        condition: InputCondition(hasLosses: report.hasLosses), frameCount: report.frameCount)
    }
  }
}
