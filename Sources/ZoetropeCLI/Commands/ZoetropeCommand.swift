import ArgumentParser
import Glibc
import Synchronization
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The root of the command line.
struct ZoetropeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "zoetrope",
    abstract: "Look into animated GIF and PNG files, take their frames out, play them.",
    discussion: """
      Exit status: 0 all good, 1 some inputs or frames failed, 2 wrong arguments, 3 nothing to \
      decode, 4 output cannot be written, 5 refused by limits, 6 damaged under a strict option, \
      7 the terminal cannot be used, 130 interrupted. Several inputs give the status that all of them \
      have, else 1, in whatever order they are.
      """,
    version: VersionText.text,
    subcommands: [
      InfoCommand.self, ExtractCommand.self, StillCommand.self, PlayCommand.self, CheckCommand.self,
      ProbeCommand.self,
    ])
}

/// The process.
package enum ZoetropeTool {
  /// Runs the command that the process's arguments name, and ends the process.
  package static func main() -> Never {
    Signals.prepare()
    SystemThread.beginsElsewhere.store(true, ordering: .relaxed)
    let status = run(Array(CommandLine.arguments.dropFirst()))
    Signals.endProcess(with: status)
    exit(status.rawValue)
  }

  /// The file name that was read as a cluster with `-h` in it, where nobody asked for help.
  ///
  /// In `zoetrope info *` a file called `-dash.gif` would print the help, and a script would take
  /// that for success.
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
      // Help and version were asked for; everything else that is thrown here is wrong usage.
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

/// A command that answers with an exit status instead of throwing.
protocol ZoetropeSubcommand: ParsableCommand {
  func execute() -> ExitStatus
}

extension ZoetropeSubcommand {
  /// What ArgumentParser calls; ``ZoetropeTool`` calls ``execute()`` itself.
  func run() throws { throw ExitCode(execute().rawValue) }
}

/// What all commands do with results and failures.
enum CommandRunner {
  /// Reports damage of `input` on standard error, as text or as JSON.
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

  /// What `body` writes, as one line.
  static func line(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    body(&json)
    return json.bytes + [0x0a]
  }

  /// Prints what `report` makes of each input, one after another and each at once, so that a reader
  /// has what is done and an end in between takes nothing back.
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

/// What `--version` prints: this tool and the libraries that it runs with.
enum VersionText {
  /// The version of this package.
  static let number = "0.1.0"

  static var text: String {
    (["zoetrope \(number)"] + LinkedLibraries.versions).joined(separator: "\n")
  }
}
