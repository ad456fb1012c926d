import ArgumentParser
import Glibc
import SystemPackage

/// The root of the command line.
struct ZoetropeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "zoetrope",
    abstract: "Look into animated GIF and PNG files, take their frames out, play them.",
    discussion: """
      Exit status: 0 all good, 1 some inputs or frames failed, 2 wrong arguments, 3 nothing to \
      decode, 4 output cannot be written, 5 refused by limits, 6 damaged under a strict option, \
      7 the terminal cannot be used, 130 interrupted.
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
    SignalFlag.install()
    exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
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
