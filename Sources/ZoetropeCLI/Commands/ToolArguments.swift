import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// Completes the arguments for the parser: adds the command that a file name implies, and the options of
/// the configuration file.
enum ToolArguments {
  /// Completes the arguments of the process.
  static func completed(
    _ arguments: [String],
    isFile: (String) -> Bool = { OutputFile.isTaken(FilePath(bytes: RawArguments.bytes(of: $0))) },
    configuration: () throws(CommandFailure) -> PlayerConfiguration? = {
      () throws(CommandFailure) in try PlayerConfiguration.load()
    }
  ) throws(CommandFailure) -> [String] {
    var arguments = arguments
    if arguments == ["-V"] || arguments == ["version"] { return ["--version"] }
    if impliesPlay(arguments, isFile: isFile) { arguments.insert("play", at: 0) }
    guard arguments.first == "play" else { return arguments }
    let options = arguments.prefix { $0 != "--" }
    // Help must work even if the file is invalid.
    if options.contains(where: { ["--no-config", "--help", "-h", "--version"].contains($0) }) {
      return arguments
    }
    // What another program draws must not depend on the user's preferences for the player.
    if options.contains(where: { $0 == "--clear" || $0 == "--place" || $0.hasPrefix("--place=") }) {
      return arguments
    }
    guard let configuration = try configuration() else { return arguments }
    arguments.insert(contentsOf: try configuration.arguments { problem(with: $0) }, at: 1)
    return arguments
  }

  /// Whether `play` was left out: the first argument is not a command, but a file or an option before a file.
  /// Anything that looks like a file name counts as one, so that a missing file is reported.
  static func impliesPlay(_ arguments: [String], isFile: (String) -> Bool) -> Bool {
    guard let first = arguments.first, !commands.contains(first) else { return false }
    // Only files follow `--`.
    if first == "-" || first == "--" && arguments.count > 1 { return true }
    guard first.hasPrefix("-") else {
      return first.contains(".") || first.contains("/") || isFile(first)
    }
    let isForRoot = arguments.contains {
      ["-h", "--help", "--version"].contains($0) || $0.hasPrefix("--generate-")
        || $0.hasPrefix("--experimental-") || $0.hasPrefix("---")
    }
    return !isForRoot && arguments.contains { !$0.hasPrefix("-") && isFile($0) }
  }

  private static let commands = Set(
    ["help"] + ZoetropeCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
  )

  /// The parser's error for one option of `play`, on one line; nil if it is valid.
  private static func problem(with argument: String) -> String? {
    do {
      _ = try PlayCommand.parse(["-", argument])
      return nil
    } catch {
      return PlayCommand.message(for: error).split(separator: "\n").joined(separator: " ")
    }
  }
}
