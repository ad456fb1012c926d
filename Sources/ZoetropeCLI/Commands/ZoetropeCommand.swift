import ArgumentParser
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
      zoetrope FILE is short for zoetrope play FILE. zoetrope COMMAND -h lists the options most used, \
      zoetrope COMMAND --help all of them.

      Frames count from 0 in options, JSON and file names. Only the player's screen and keys count from 1.

      Exit status: 0 success, 1 some inputs or frames failed, 2 wrong arguments, 3 nothing could be \
      decoded, 4 output could not be written, 5 a limit was exceeded, 6 damaged under a strict option, \
      7 unusable terminal, 8 no file is small enough. If a signal ends the process it is 128 plus the \
      signal's number, such as 130 for Ctrl-C. For several inputs it is the status they share, else 1.

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
}

/// The process.
package enum ZoetropeTool {
  /// Runs the command that the process's arguments name, and ends the process.
  package static func main() -> Never {
    StandardStreams.reserve()
    Signals.prepare()
    let status = run(Array(CommandLine.arguments.dropFirst()))
    Signals.endProcess(with: status)
    exit(status.rawValue)
  }

  /// A file name that was parsed as a cluster of options containing `-h`.
  ///
  /// In `zoetrope info *` a file called `-dash.gif` would print the help, and a script would see success.
  private static func fileThatLooksLikeHelp(_ arguments: [String]) -> String? {
    let options = arguments.prefix { $0 != "--" }
    if options.contains(where: { ["-h", "--help", "--version"].contains($0) }) { return nil }
    return options.first {
      $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.dropFirst().contains("h")
    }
  }

  /// The subcommand called `name`.
  static func subcommand(named name: String) -> (any ParsableCommand.Type)? {
    ZoetropeCommand.configuration.subcommands.first { $0.configuration.commandName == name }
  }

  /// The command that `arguments` name.
  ///
  /// A subcommand that is named first parses its own arguments. Through the root, the parser would build its
  /// options twice more, which is a good part of the tool's start-up time. Errors and help are left to the
  /// root, because they refer to the whole command line.
  static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    if let subcommand = arguments.first.flatMap(subcommand),
      let command = try? subcommand.parseAsRoot(Array(arguments.dropFirst())),
      command is any ZoetropeSubcommand
    {
      return command
    }
    return try ZoetropeCommand.parseAsRoot(arguments)
  }

  /// Runs the command that `arguments` name.
  static func run(_ given: [String]) -> ExitStatus {
    let arguments: [String]
    do throws(CommandFailure) {
      arguments = try ToolArguments.completed(given)
    } catch {
      error.report(asJSON: false)
      return error.status
    }
    if let message = UsageHint.unknownTopic(of: arguments) {
      FileDescriptor.note(UsageHint.inOneVoice(message))
      return .usage
    }
    if let help = ShortHelp.text(for: arguments) { return print(help) }
    do {
      var command = try parse(arguments)
      if let command = command as? any ZoetropeSubcommand { return command.status() }
      try command.run()
      return .success
    } catch {
      var text = ZoetropeCommand.fullMessage(for: error) + "\n"
      if let shell = CompletionScript.shell(in: arguments) {
        text = CompletionScript.completed(text, for: shell)
      }
      // Help and version are successes; any other error here is wrong usage.
      guard ZoetropeCommand.exitCode(for: error) != .success else {
        if let name = fileThatLooksLikeHelp(arguments) {
          CommandFailure.usage(
            "unknown option '\(name.sanitized)'; for a file of that name, use ./\(name.sanitized)"
          ).report(asJSON: false)
          return .usage
        }
        return print(text)
      }
      FileDescriptor.note(UsageHint.inOneVoice(UsageHint.improved(text, for: arguments)))
      return .usage
    }
  }

  /// Prints help, a version or a script.
  private static func print(_ text: String) -> ExitStatus {
    do throws(CommandFailure) {
      try OutputStream.print(Array(text.utf8))
      return .success
    } catch {
      error.report(asJSON: false)
      return error.status
    }
  }
}

/// A command that returns an exit status instead of throwing.
protocol ZoetropeSubcommand: ParsableCommand {
  /// Whether a failure is reported as JSON.
  var reportsJSON: Bool { get }

  func execute() throws(CommandFailure) -> ExitStatus
}

extension ZoetropeSubcommand {
  var reportsJSON: Bool { false }

  /// Executes it, and reports its failure.
  func status() -> ExitStatus {
    do throws(CommandFailure) {
      return try execute()
    } catch {
      error.report(asJSON: reportsJSON)
      return error.status
    }
  }

  /// Called by ArgumentParser; ``ZoetropeTool`` calls ``status()`` itself.
  func run() throws { throw ExitCode(status().rawValue) }
}

/// What `--version` prints: the versions of the tool and of the libraries it is linked with.
enum VersionText {
  /// The version of this package.
  static let number = "0.1.0"

  static var text: String {
    (["zoetrope \(number)"] + LinkedLibraries.versions).joined(separator: "\n")
  }
}
