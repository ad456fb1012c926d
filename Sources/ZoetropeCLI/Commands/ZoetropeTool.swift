import ArgumentParser
import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The entry point of the process.
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
  /// If the first argument is a subcommand, that subcommand parses the rest. Parsing through the root would build the
  /// subcommand's options two more times, which would be a good part of the tool's start-up time. Errors and help are
  /// left to the root, because they refer to the whole command line.
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
