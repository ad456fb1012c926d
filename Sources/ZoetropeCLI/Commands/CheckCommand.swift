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
      with --strict, 6 for any deviation from the format, also one that costs nothing. Equal \
      remarks are told once, with their number; --json lists each.
      """)

  @Argument(help: "GIF or PNG files; - reads standard input.", completion: .animations)
  var files: [String]

  @Flag(help: "Refuse every deviation from the format, also those that cost nothing.")
  var strict = false

  @Flag(help: "Print JSON: one object for one file, an array for several.")
  var json = false

  @OptionGroup var decoding: DecodingArguments

  func execute() -> ExitStatus {
    var statuses: [ExitStatus] = []
    var writer = JSONWriter()
    var text = ""
    func add(_ writer: inout JSONWriter) {
      for file in files where SignalFlag.status == nil {
        let input = InputFile(file)
        do throws(CommandFailure) {
          let report = try DamageReport(input: input, options: decoding.options)
          statuses.append(report.status(isStrict: strict))
          if json { report.write(to: &writer) } else { text += report.text }
        } catch {
          statuses.append(error.status)
          CommandRunner.report(error, asJSON: json)
        }
      }
    }
    if files.count > 1 { writer.array(add) } else { add(&writer) }
    let output = json ? writer.bytes + (writer.bytes.isEmpty ? [] : [0x0a]) : Array(text.utf8)
    do throws(CommandFailure) {
      try CommandRunner.print(output)
    } catch {
      if error.status != .success { CommandRunner.report(error, asJSON: json) }
      return error.status
    }
    return SignalFlag.status ?? .combined(statuses)
  }
}
