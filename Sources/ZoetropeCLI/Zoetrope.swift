import ArgumentParser
import Glibc
import SystemPackage
import Zoetrope

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
@main
enum ZoetropeTool {
  static func main() {
    SignalFlag.prepare()
    let status = run(Array(CommandLine.arguments.dropFirst()))
    SignalFlag.endProcess(with: status)
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
    if let command = QuickArguments.command(arguments) { return command.run() }
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
          try CommandRunner.print(Array(text.utf8))
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
