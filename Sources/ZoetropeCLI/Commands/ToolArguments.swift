import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The arguments as the parser gets them: with the command that a file name implies, and with the
/// options of the configuration file.
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
    if impliesPlay(arguments, isFile: isFile) { arguments.insert("play", at: 0) }
    guard arguments.first == "play" else { return arguments }
    let options = arguments.prefix { $0 != "--" }
    // Help must be there however wrong the file is.
    if options.contains(where: { ["--no-config", "--help", "-h", "--version"].contains($0) }) {
      return arguments
    }
    // What another program draws must not depend on what its user wants of the player.
    if options.contains(where: { $0 == "--clear" || $0 == "--place" || $0.hasPrefix("--place=") }) {
      return arguments
    }
    guard let configuration = try configuration() else { return arguments }
    arguments.insert(contentsOf: try configuration.arguments { problem(with: $0) }, at: 1)
    return arguments
  }

  /// Whether `play` was left out: the first argument is a file, or an option before a file, and no
  /// command. What looks like a name of a file is taken for one, so that a missing one is reported.
  static func impliesPlay(_ arguments: [String], isFile: (String) -> Bool) -> Bool {
    guard let first = arguments.first, !commands.contains(first) else { return false }
    // Behind `--` there are only files.
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

  /// What the parser of `play` has against one of its options, on one line.
  private static func problem(with argument: String) -> String? {
    do {
      _ = try PlayCommand.parse(["-", argument])
      return nil
    } catch {
      return PlayCommand.message(for: error).split(separator: "\n").joined(separator: " ")
    }
  }
}
