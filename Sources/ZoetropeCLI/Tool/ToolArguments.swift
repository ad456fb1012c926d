import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// Completes the arguments before they are parsed. Adds the command that a file name implies, and the options in the
/// configuration file.
enum ToolArguments {
  /// Returns `arguments`, the arguments of the process, with the implied command and the configured options added.
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
    // Help must work even if the configuration file is invalid.
    if options.contains(where: { ["--no-config", "--help", "-h", "--version"].contains($0) }) {
      return arguments
    }
    // The user's preferences for the player must not change what is drawn on behalf of another program.
    if options.contains(where: { $0 == "--clear" || $0 == "--place" || $0.hasPrefix("--place=") }) {
      return arguments
    }
    guard let configuration = try configuration() else { return arguments }
    let configured = try configuration.arguments { problem(with: $0) }
    // Options override each other even where they have different names.
    let setsPlays = options.contains { $0 == "--loops" || $0.hasPrefix("--loops=") }
    let hasCache = (lastValue(of: "--cache", in: configured + options) ?? "none") != "none"
    arguments.insert(
      contentsOf: configured.filter {
        !($0 == "--once" && setsPlays) && (hasCache || !$0.hasPrefix("--cache-limit="))
      }, at: 1)
    return arguments
  }

  /// Returns whether the command `play` was left out, because the first argument is a file, or an option that precedes
  /// a file. Anything that looks like a file name counts as a file, so that a missing file is reported.
  static func impliesPlay(_ arguments: [String], isFile: (String) -> Bool) -> Bool {
    guard let first = arguments.first, !commands.contains(first) else { return false }
    // Only files can follow `--`.
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

  /// Returns the value that the last option called `name` has in `arguments`, or nil if there is none.
  private static func lastValue(of name: String, in arguments: [String]) -> String? {
    var value: String?
    for (place, argument) in arguments.enumerated() {
      if argument.hasPrefix("\(name)=") {
        value = String(argument.dropFirst(name.count + 1))
      } else if argument == name, place + 1 < arguments.count {
        value = arguments[place + 1]
      }
    }
    return value
  }

  /// Returns the parser's error for one option of `play`, on one line, or nil if the option is valid.
  private static func problem(with argument: String) -> String? {
    do {
      // Another line of the file, or the command line, may set the cache that the option requires.
      _ = try PlayCommand.parse(["-", "--cache=.", argument])
      return nil
    } catch {
      return PlayCommand.message(for: error).split(separator: "\n").joined(separator: " ")
    }
  }
}
