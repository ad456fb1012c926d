import ArgumentParser
import Zoetrope

/// The text that `-h` prints: examples first, then the options that most people use. `--help` prints all options.
enum ShortHelp {
  /// The options that `-h` lists for each command, by their long names.
  private static let options: [String: [String]] = [
    "info": [
      "json", "frames", "metadata", "hashes", "format", "timing", "recursive", "files-from",
    ],
    "extract": [
      "output", "frames", "time", "fps", "size", "format", "manifest", "recursive", "resume",
      "force",
    ],
    "still": ["output", "frame", "at", "size", "force", "protocol", "recursive"],
    "play": [
      "loops", "once", "speed", "reverse", "start", "duration", "fit", "protocol", "inline",
      "no-status", "recursive",
    ],
    "check": ["strict", "json", "limits", "recursive", "files-from"],
    "explain": ["as", "verbose", "json"],
    "sheet": ["output", "atlas", "frames", "distinct", "columns", "label", "size", "force"],
    "convert": [
      "output", "frames", "time", "speed", "fps", "reverse", "size", "plays", "max-bytes", "for",
      "force",
    ],
    "make": ["output", "fps", "delay", "delays", "order", "plays", "format", "force"],
    "optimize": ["output", "effort", "lossy", "max-bytes", "strip", "force", "json", "quiet"],
    "probe": ["json"],
    "schema": [], "completions": [],
    "warm": ["size", "cache", "cache-limit", "recursive"],
    "stat": ["cache", "json"], "prune": ["cache-limit", "cache", "json"],
    "verify": ["cache", "json"], "clear": ["cache", "json"],
  ]

  /// Returns the number of options that `-h` lists for `command`.
  static func optionCount(of command: String) -> Int { options[command]?.count ?? 0 }

  /// Returns the short help if `arguments` contain `-h` or are empty, otherwise nil.
  static func text(for arguments: [String]) -> String? {
    if arguments.isEmpty { return overview }
    let words = arguments.prefix { $0 != "--" }
    guard words.contains("-h"), !words.contains("--help") else { return nil }
    if words.first == "-h" { return overview }
    var command: any ParsableCommand.Type = ZoetropeCommand.self
    for word in words {
      guard
        let next = command.configuration.subcommands.first(where: { $0._commandName == word })
      else { break }
      command = next
    }
    return text(of: command)
  }

  /// The short help of the whole tool.
  static var overview: String {
    """
    \(ZoetropeCommand.configuration.abstract)

      zoetrope party.gif                       play it in the terminal
      zoetrope info *.gif                      show sizes, frames and delays
      zoetrope extract party.gif -o frames/    write its frames as PNG files

    Commands:
    \(list(of: ZoetropeCommand.configuration.subcommands))
    zoetrope COMMAND -h lists the most-used options, COMMAND --help all of them.

    """
  }

  /// Returns one line for each of `commands`.
  private static func list(of commands: [any ParsableCommand.Type]) -> String {
    let width = (commands.map { $0._commandName.count }.max() ?? 0) + 2
    return commands.map { command in
      // The part of an abstract after a colon would not fit the line.
      let text = command.configuration.abstract.split(separator: ":")[0]
      let name = command._commandName.paddedRight(to: width)
      return "  \(name)\(text)\(text.hasSuffix(".") ? "" : ".")\n"
    }.joined()
  }

  /// Returns the short help of `command`, or nil if the command has none.
  private static func text(of command: any ParsableCommand.Type) -> String? {
    let configuration = command.configuration
    let parts = configuration.discussion.split(separator: "EXAMPLES:\n")
    let examples = parts.count > 1 ? parts[1].split(separator: "\n").prefix(3) : []
    var text = configuration.abstract + "\n\n"
    for example in examples { text += "  \(example.drop { $0 == " " })\n" }
    if command._commandName != ZoetropeCommand._commandName, !configuration.subcommands.isEmpty {
      let name = "zoetrope \(command._commandName)"
      return text + "\nCommands:\n" + list(of: configuration.subcommands)
        + "\n\(name) COMMAND -h lists the options, --help explains them.\n"
    }
    guard let wanted = options[command._commandName] else { return nil }
    if let usage = configuration.usage { text += "\nUsage: \(usage)\n\n" }
    let help = ZoetropeCommand.helpMessage(for: command, columns: 80)
    let entries = entries(of: help)
    for name in wanted { text += entries[name] ?? "" }
    text += "  --help                  All options, explained in detail.\n"
    return text
  }

  /// Returns the lines of each option in `help`, by the option's long name, without the lines that list its values.
  private static func entries(of help: String) -> [String: String] {
    var entries: [String: String] = [:]
    var name: String?
    for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("  -") {
        let names = line.split(separator: " ").prefix { $0.hasPrefix("-") }
          .map { $0.filter { $0 != "," } }
        name = names.last { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
      } else if !line.hasPrefix(String(repeating: " ", count: 26)) {
        name = nil
      }
      if let name { entries[name, default: ""] += line + "\n" }
    }
    return entries
  }
}
