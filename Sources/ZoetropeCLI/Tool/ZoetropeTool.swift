import ArgumentParser
import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The entry point of the process.
package enum ZoetropeTool {
  /// Runs the command in the arguments of the process, and ends the process.
  package static func main() -> Never {
    StandardStreams.reserve()
    Signals.prepare()
    let status = run(Array(CommandLine.arguments.dropFirst()))
    Signals.endProcess(with: status)
    exit(status.rawValue)
  }

  /// Returns the first argument that was parsed as a cluster of short options including `-h`, but that may be the name
  /// of a file.
  ///
  /// In `zoetrope info *`, a file called `-dash.gif` would make the tool print the help, and a script would take that
  /// for success.
  private static func fileThatLooksLikeHelp(_ arguments: [String]) -> String? {
    let options = arguments.prefix { $0 != "--" }
    if options.contains(where: { ["-h", "--help", "--version"].contains($0) }) { return nil }
    return options.first {
      $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.dropFirst().contains("h")
    }
  }

  /// Parses `arguments`, and returns the command.
  ///
  /// If the first argument is a subcommand, that subcommand parses the rest. Parsing through the root command would
  /// build the subcommand's options two more times, which would be a large part of the tool's start-up time. Errors and
  /// help are left to the root command, because they refer to the whole command line.
  static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    if let subcommand = arguments.first.flatMap(ZoetropeCommand.subcommand),
      let command = try? subcommand.parseAsRoot(Array(arguments.dropFirst())),
      command is any ZoetropeSubcommand
    {
      return command
    }
    return try ZoetropeCommand.parseAsRoot(arguments)
  }

  /// Runs the command in `given`, the arguments without the name of the tool, and returns its exit status.
  static func run(_ given: [String]) -> ExitStatus {
    let arguments: [String]
    do throws(CommandFailure) {
      if let text = RawArguments.ambiguousText {
        throw .usage(
          "two different names in the arguments both read as \(text), because a name is not UTF-8; "
            + "rename a file, or name inputs in a list with --files-from")
      }
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
      // Help and version are reported as errors but are successes. Any other error here is wrong usage.
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

  /// Prints the help, the version or a completion script.
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
