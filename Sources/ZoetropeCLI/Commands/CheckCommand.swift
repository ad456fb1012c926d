import ArgumentParser
import SystemPackage
import Zoetrope

/// `zoetrope check`.
struct CheckCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Decode everything and say what is wrong, where, and what it costs.",
    discussion: """
      Exit status: 0 nothing is lost, 1 something is but there are frames, 3 nothing can be decoded; \
      with --strict, 6 for any deviation from the format, also one that costs nothing; of several \
      files the status that all have, else 1. Equal remarks are told once, with their number; \
      --json lists each. Results come as files are done.

      --json prints one object a line for each file, in their order (schema zoetrope.check/2); of a \
      file that cannot be decoded it has "error" with "code", "message", "byte" and "frame".
      """)

  @Argument(help: "GIF or PNG files; - reads standard input.", completion: .animations)
  var files: [String]

  @Flag(help: "Refuse every deviation from the format, also those that cost nothing.")
  var strict = false

  @Flag(help: "Print JSON, one object a line for each file.")
  var json = false

  @OptionGroup var decoding: DecodingArguments

  func execute() -> ExitStatus {
    CommandRunner.forEach(files, asJSON: json, schema: DamageReport.schema) {
      input throws(CommandFailure) in
      let image = try input.open(decoding.options)
      // Caught while there may be a bar on the terminal, which is not to be left there.
      let report = try SignalFlag.whileCaught { () throws(CommandFailure) in
        try DamageReport(of: image, input: input)
      }
      let output = json ? CommandRunner.line { report.write(to: &$0) } : Array(report.text.utf8)
      return (report.status(isStrict: strict), output)
    }
  }
}
