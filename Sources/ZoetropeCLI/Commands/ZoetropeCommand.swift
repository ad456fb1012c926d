import ArgumentParser
import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The root of the command line.
struct ZoetropeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "zoetrope",
    abstract: "Inspect, extract and play animated GIF and PNG.",
    discussion: """
      Exit status: 0 success, 1 some inputs or frames failed, 2 wrong arguments, 3 nothing could be \
      decoded, 4 output could not be written, 5 refused by a limit, 6 damaged under a strict option, \
      7 the terminal cannot be used, 130 interrupted. Several inputs give the status they share, else 1.
      """,
    version: VersionText.text,
    subcommands: [
      InfoCommand.self, ExtractCommand.self, StillCommand.self, PlayCommand.self, CheckCommand.self,
      ProbeCommand.self, CacheCommand.self,
    ])
}

/// The process.
package enum ZoetropeTool {
  /// Runs the command that the process's arguments name, and ends the process.
  package static func main() -> Never {
    Signals.prepare()
    let status = run(Array(CommandLine.arguments.dropFirst()))
    Signals.endProcess(with: status)
    exit(status.rawValue)
  }

  /// A file name that was parsed as a cluster of options containing `-h`.
  ///
  /// In `zoetrope info *` a file called `-dash.gif` would print the help, which a script would take
  /// for success.
  private static func fileThatLooksLikeHelp(_ arguments: [String]) -> String? {
    let options = arguments.prefix { $0 != "--" }
    if options.contains(where: { ["-h", "--help", "--version"].contains($0) }) { return nil }
    return options.first {
      $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.dropFirst().contains("h")
    }
  }

  /// Runs the command that `arguments` name.
  static func run(_ arguments: [String]) -> ExitStatus {
    do {
      var command = try ZoetropeCommand.parseAsRoot(arguments)
      if let command = command as? any ZoetropeSubcommand { return command.execute() }
      try command.run()
      return .success
    } catch {
      let text = ZoetropeCommand.fullMessage(for: error) + "\n"
      // Help and version are successes; everything else that is thrown here is wrong usage.
      guard ZoetropeCommand.exitCode(for: error) != .success else {
        if let name = fileThatLooksLikeHelp(arguments) {
          FileDescriptor.note(
            "Error: Unknown option '\(name.sanitized)'; a file of that name is ./\(name.sanitized)\n"
          )
          return .usage
        }
        do throws(CommandFailure) {
          try OutputStream.print(Array(text.utf8))
        } catch {
          return error.status
        }
        return .success
      }
      FileDescriptor.note(text)
      return .usage
    }
  }
}

/// A command that returns an exit status instead of throwing.
protocol ZoetropeSubcommand: ParsableCommand {
  func execute() -> ExitStatus
}

extension ZoetropeSubcommand {
  /// What ArgumentParser calls; ``ZoetropeTool`` calls ``execute()`` itself.
  func run() throws { throw ExitCode(execute().rawValue) }
}

/// How commands report results and failures.
enum CommandRunner {
  /// Reports damage in `input` on standard error, as text or as JSON.
  static func report(_ damage: Damage, of input: InputFile, asJSON: Bool) {
    if asJSON {
      let line = line { json in
        json.object { json in
          json.object("damage") {
            $0.field("file", input.fileName, base64Key: "file_base64")
            AnimationReport.writeFields(of: damage, to: &$0)
          }
        }
      }
      FileDescriptor.note(String(decoding: line, as: UTF8.self))
    } else {
      FileDescriptor.note("zoetrope: \(input.name.sanitized): \("\(damage)".sanitized)\n")
    }
  }

  /// What `body` writes, as a line.
  static func line(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    body(&json)
    return json.bytes + [0x0a]
  }

  /// Prints the result of `report` for each input as soon as it is there, so that an interruption
  /// loses nothing that is done.
  ///
  /// A failure is an object of `schema` in its input's place when `asJSON`, else a line on standard
  /// error.
  static func forEach(
    _ files: [String], asJSON: Bool, schema: String,
    _ report: (InputFile) throws(CommandFailure) -> (ExitStatus, [UInt8])
  ) -> ExitStatus {
    var statuses: [ExitStatus] = []
    for file in files {
      var output: [UInt8] = []
      do throws(CommandFailure) {
        let status: ExitStatus
        (status, output) = try report(InputFile(file))
        statuses.append(status)
      } catch {
        statuses.append(error.status)
        if Signals.ending != nil || !asJSON { error.report(asJSON: asJSON) }
        if let status = Signals.ending { return status }
        if asJSON { output = line { error.write(to: &$0, schema: schema) } }
      }
      do throws(CommandFailure) {
        try OutputStream.print(output)
      } catch {
        if error.status != .success { error.report(asJSON: asJSON) }
        return error.status
      }
    }
    return .combined(statuses)
  }
}

/// What `--version` prints: the versions of the tool and of the libraries it is linked with.
enum VersionText {
  /// The version of this package.
  static let number = "0.1.0"

  static var text: String {
    (["zoetrope \(number)"] + LinkedLibraries.versions).joined(separator: "\n")
  }
}
