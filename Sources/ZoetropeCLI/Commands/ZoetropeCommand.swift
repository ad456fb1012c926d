import ArgumentParser
import CZoetrope
import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The root of the command line.
struct ZoetropeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "zoetrope",
    abstract: "Inspect, extract, edit and play animated GIF and PNG.",
    usage: "zoetrope <command> [options] [<files> ...]",
    discussion: """
      zoetrope FILE is short for zoetrope play FILE. zoetrope COMMAND -h lists the most-used \
      options; zoetrope COMMAND --help lists all of them.

      Frame numbers start at 0 in options, JSON and file names. In the player they start at 1, \
      both on the screen and when you type them.

      Exit status: 0 success, 1 some inputs or frames failed, 2 wrong arguments, 3 nothing could \
      be decoded, 4 output could not be written, 5 a limit was exceeded, 6 an input is damaged and \
      a strict option was given, 7 the terminal cannot be used, 8 no result meets --max-bytes or \
      --for. If a signal ends the process, the status is 128 plus the signal's number, such as 130 \
      for Ctrl-C. If several inputs are given and their statuses differ, the exit status is 1.

      EXAMPLES:
        zoetrope info party.gif
        zoetrope extract party.gif -o frames/
        zoetrope play party.gif
      """,
    version: VersionText.text,
    subcommands: [
      InfoCommand.self, ExtractCommand.self, StillCommand.self, ConvertCommand.self,
      OptimizeCommand.self, MakeCommand.self, PlayCommand.self, CheckCommand.self,
      ExplainCommand.self, SheetCommand.self, ProbeCommand.self, CacheCommand.self,
      SchemaCommand.self, CompletionsCommand.self,
    ])

  /// Returns the subcommand called `name`, or nil if there is none.
  static func subcommand(named name: String) -> (any ParsableCommand.Type)? {
    configuration.subcommands.first { $0.configuration.commandName == name }
  }
}

/// A command that returns an exit status instead of throwing.
protocol ZoetropeSubcommand: ParsableCommand {
  /// Whether failures are reported as JSON.
  var reportsJSON: Bool { get }

  func execute() throws(CommandFailure) -> ExitStatus
}

extension ZoetropeSubcommand {
  var reportsJSON: Bool { false }

  /// Executes the command and returns its exit status. Reports a failure if there is one.
  func status() -> ExitStatus {
    do throws(CommandFailure) {
      return try execute()
    } catch {
      error.report(asJSON: reportsJSON)
      return error.status
    }
  }

  /// Runs the command for ArgumentParser, which calls this method. ``ZoetropeTool`` calls ``status()`` instead.
  func run() throws { throw ExitCode(status().rawValue) }
}

/// The text that `--version` prints: the versions of the tool and of the libraries with which it is linked.
enum VersionText {
  /// The version of this package, as defined in `zoetrope.h`.
  static let number = ZOETROPE_VERSION

  static var text: String {
    (["zoetrope \(number)"] + LinkedLibraries.versions).joined(separator: "\n")
  }
}
