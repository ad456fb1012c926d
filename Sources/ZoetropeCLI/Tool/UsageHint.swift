import ArgumentParser
import Zoetrope

/// Improves the first line of the parser's message about a misspelled word.
///
/// The parser suggests no commands, and suggests options that do not resemble the word. While a required option is
/// missing, it does not mention a misspelled option: for `extract a.gif --otput frames/`, it only says that `--output`
/// is missing.
enum UsageHint {
  /// Returns the parser's `message` about `arguments`, with another first line if a word is misspelled.
  static func improved(_ message: String, for arguments: [String]) -> String {
    guard
      let line = misspelledCommand(in: arguments) ?? fileLikeOption(message, arguments)
        ?? unknownOption(hiddenOption(message, arguments) ?? message, arguments)
    else {
      return message
    }
    return line + message.drop { $0 != "\n" }
  }

  /// The names that other programs use for the commands and options of this tool.
  private static let synonyms = [
    "resize": "convert", "crop": "convert", "cut": "convert", "trim": "convert",
    "reverse": "convert", "compress": "optimize", "frames": "extract", "split": "extract",
    "create": "make", "view": "play",
    "--resize": "--size", "--scale": "--size", "--width": "--size", "--height": "--size",
    "--rate": "--fps", "--framerate": "--fps", "--loop": "--plays", "--repeat": "--plays",
    "--out": "--output", "--overwrite": "--force", "--quality": "--lossy",
  ]

  /// Advice for options that a command does not have, but other commands do.
  private static let advice = [
    "optimize --plan": "To see the sizes without writing a file, use -o /dev/null."
  ]

  /// Returns the parser's `message` in the style of the tool's own messages: one line that describes the error, and one
  /// that says where to find help. The usage of the command is left out.
  static func inOneVoice(_ message: String) -> String {
    var lines = message.split(separator: "\n").map(String.init).filter {
      !$0.hasPrefix("Usage: ")
    }
    guard let first = lines.first, first.hasPrefix("Error: ") else { return message }
    let text = first.dropFirst("Error: ".count)
    // The message begins with a small letter, unless its first word is the name of an option or a file.
    let isWord = text.dropFirst().first?.isLowercase ?? false
    lines[0] =
      "zoetrope: error: " + (isWord ? text.prefix(1).lowercased() + text.dropFirst() : text)
    let topic = text.hasPrefix("Unknown command") ? "commands" : "options"
    return lines.map {
      withNumbers($0).replacing(
        " --help' for more information.", with: " -h' for the \(topic).") + "\n"
    }.joined()
  }

  /// The numbers that options take beside words.
  private static let ranges = ["--plays": "1 to 2147483647", "--colors": "2 to 256"]

  /// Returns `line` with `N` and `RRGGBB` in the list of an option's values replaced by what they stand for.
  private static func withNumbers(_ line: String) -> String {
    guard let list = line.firstRange(of: "Please provide ")?.upperBound else { return line }
    let range = ranges.first { line[..<list].contains("for '\($0.key) ") }
    for (word, meaning) in [
      ("'N'", "a number" + (range.map { " from \($0.value)" } ?? "")),
      ("'RRGGBB'", "a colour such as ff8000"),
    ] where line[list...].contains(word) {
      // The parser lists the values as words, "one of 'forever' and 'N'", but a number is not one of these words.
      var values = line[list...]
      if values.hasPrefix("one of ") { values = values.dropFirst("one of ".count) }
      let text = values.replacing(" and \(word)", with: " or \(meaning)")
      return String(line[..<list] + text.replacing(word, with: meaning))
    }
    return line
  }

  /// Returns the message for `help` with a command that does not exist, or nil for other arguments. The parser would
  /// print the help of the whole tool.
  static func unknownTopic(of arguments: [String]) -> String? {
    guard arguments.first == "help", let line = misspelledCommand(in: arguments) else { return nil }
    return line + "\n  See 'zoetrope --help' for the commands.\n"
  }

  /// Returns the message for a command that does not exist, or nil if there is none. Only words before the first option
  /// are examined.
  private static func misspelledCommand(in arguments: [String]) -> String? {
    var command: any ParsableCommand.Type = ZoetropeCommand.self
    var words = arguments[...]
    if words.first == "help" { words = words.dropFirst() }
    for word in words {
      guard !command.configuration.subcommands.isEmpty, !word.hasPrefix("-") else { return nil }
      let subcommands = command.configuration.subcommands
      if let next = subcommands.first(where: { $0._commandName == word }) {
        command = next
        continue
      }
      // The parser itself adds the command `help`.
      if word == "help" { return nil }
      var line = "Error: Unknown command '\(word.sanitized)'."
      let names = subcommands.map { $0._commandName } + ["help"]
      if let name = NameSuggestion.closest(to: word, in: names)
        ?? synonyms[word].flatMap({ names.contains($0) ? $0 : nil })
      {
        line += " Did you mean '\(name)'?"
      }
      return line
    }
    return nil
  }

  /// Returns a message that replaces `message` if one of `arguments` is the name of a file and looks like a cluster of
  /// short options. Otherwise returns nil.
  private static func fileLikeOption(_ message: String, _ arguments: [String]) -> String? {
    let isRefused =
      message.hasPrefix("Error: Missing expected argument")
      || message.hasPrefix("Error: Unknown option") || message.hasPrefix("Error: name a file")
    guard isRefused,
      let name = arguments.prefix(while: { $0 != "--" }).first(where: {
        $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.contains(".") && !$0.contains("=")
          && $0.dropFirst().first?.isNumber == false
      })
    else { return nil }
    return
      "Error: Unknown option '\(name.sanitized)'; for a file of that name, use ./\(name.sanitized)"
  }

  /// Returns the message about an unknown option, with a suggestion if the command has a similar option. Returns nil if
  /// `message` is not about an unknown option.
  private static func unknownOption(
    _ message: some StringProtocol, _ arguments: [String]
  ) -> String? {
    let quoted = message.split(separator: "'", maxSplits: 2)
    guard quoted.count == 3, quoted[0] == "Error: Unknown option ", quoted[1].hasPrefix("--") else {
      return nil
    }
    let word = String(quoted[1])
    var path: [String] = []
    var command: any ParsableCommand.Type = ZoetropeCommand.self
    for name in arguments {
      guard
        let next = command.configuration.subcommands.first(where: { $0._commandName == name })
      else { break }
      (command, path) = (next, path + [name])
    }
    let line = "Error: Unknown option '\(word.sanitized)'."
    if let advice = advice[(path + [word]).joined(separator: " ")] { return "\(line) \(advice)" }
    // In the help, the names of an option are at the start of a line, and two spaces follow them.
    let names: [String] = command.helpMessage().split(separator: "\n").flatMap { line in
      let text = line.drop { $0 == " " }
      guard text.hasPrefix("-") else { return [String]() }
      let end = text.firstRange(of: "  ")?.lowerBound ?? text.endIndex
      return text[..<end].matches(of: /--[a-z-]+/).map { String($0.0) }
    }
    let meant =
      synonyms[word].flatMap { names.contains($0) ? $0 : nil }
      ?? NameSuggestion.closest(to: word.dropFirst(2), in: names.map { $0.dropFirst(2) })
      .map { "--\($0)" }
    return meant.map { "\(line) Did you mean '\($0)'?" } ?? String(line.dropLast())
  }

  /// Returns the parser's message about an unknown option in `arguments`, which the parser withholds while a required
  /// argument is missing. Returns nil if there is no such message.
  private static func hiddenOption(_ message: String, _ arguments: [String]) -> String? {
    var (line, arguments) = (message, arguments)
    // No command requires more than an output and a file.
    for _ in 0..<2 where line.hasPrefix("Error: Missing expected argument") {
      arguments.append(line.contains("'--output") ? "--output=-" : "-")
      do {
        _ = try ZoetropeCommand.parseAsRoot(arguments)
        return nil
      } catch {
        line = String(ZoetropeCommand.fullMessage(for: error).prefix { $0 != "\n" })
      }
    }
    return line != message && line.hasPrefix("Error: Unknown option") ? line.sanitized : nil
  }
}
