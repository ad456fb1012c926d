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
    arguments.insert(contentsOf: effective(configured, under: options), at: 1)
    return arguments
  }

  /// Returns the options in the configuration file without those that have no effect because of `options`, the options
  /// on the command line. Options override each other even where they have different names.
  private static func effective(
    _ configured: [String], under options: ArraySlice<String>
  ) -> [String] {
    func isGiven(_ name: String, in arguments: ArraySlice<String>) -> Bool {
      arguments.contains { $0 == name || $0.hasPrefix("\(name)=") }
    }
    let hasCache = (lastValue(of: "--cache", in: configured + options) ?? "none") != "none"
    let drawsOneFrame = isGiven("--frame", in: options)
    let plays = lastValue(of: "--loops", in: Array(options)).flatMap { LoopsArgument(argument: $0) }
    let quits =
      drawsOneFrame || isGiven("--once", in: options) || isGiven("--inline", in: options)
      || plays?.isFinite == true
    return configured.indices.filter { place in
      // A later line of the file also overrides an earlier one.
      let later = configured[(place + 1)...] + options
      return switch configured[place].prefix(while: { $0 != "=" }) {
      case "--once": !isGiven("--loops", in: later)
      case "--loops": !drawsOneFrame && !isGiven("--once", in: later)
      case "--hold": !quits
      case "--start", "--speed", "--reverse", "--bounce", "--delay": !drawsOneFrame
      case "--cache-limit": hasCache
      default: true
      }
    }.map { configured[$0] }
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
