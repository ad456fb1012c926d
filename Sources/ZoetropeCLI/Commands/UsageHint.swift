import ArgumentParser
import Zoetrope

/// The commands as a tree of names, for help and for messages about misspelled words.
enum CommandTree {
  /// The command that `words` name; nil if there is none.
  static func command<Words: Sequence>(
    named words: Words
  ) -> (any ParsableCommand.Type)? where Words.Element: StringProtocol {
    var command: any ParsableCommand.Type = ZoetropeCommand.self
    for word in words {
      guard let next = subcommand(of: command, named: word) else { return nil }
      command = next
    }
    return command
  }

  static func subcommand(
    of command: any ParsableCommand.Type, named word: some StringProtocol
  ) -> (any ParsableCommand.Type)? {
    command.configuration.subcommands.first { $0._commandName == word }
  }
}

/// A better first line for a message of the parser about a misspelled word.
///
/// The parser suggests options, but not commands, and says nothing of a misspelled option while
/// something else is missing: `extract a.gif --otput frames/` lacks `--output`.
enum UsageHint {
  /// The parser's `message` about `arguments`, with another first line if a word is misspelled.
  static func improved(_ message: String, for arguments: [String]) -> String {
    guard
      let line = misspelledCommand(in: arguments) ?? fileLikeOption(message, arguments)
        ?? hiddenOption(message, arguments)
    else {
      return message
    }
    return line + message.drop { $0 != "\n" }
  }

  /// What to say of `help` with a command that does not exist, for which the parser would print the
  /// help of the whole tool; nil for other arguments.
  static func unknownTopic(of arguments: [String]) -> String? {
    guard arguments.first == "help", let line = misspelledCommand(in: arguments) else { return nil }
    return line + "\n  See 'zoetrope --help' for the commands.\n"
  }

  /// `arguments` name a command that does not exist, before any option.
  private static func misspelledCommand(in arguments: [String]) -> String? {
    var command: any ParsableCommand.Type = ZoetropeCommand.self
    var words = arguments[...]
    if words.first == "help" { words = words.dropFirst() }
    for word in words {
      guard !command.configuration.subcommands.isEmpty, !word.hasPrefix("-") else { return nil }
      if let next = CommandTree.subcommand(of: command, named: word) {
        command = next
        continue
      }
      // The parser's own command.
      if word == "help" { return nil }
      var line = "Error: Unknown command '\(word.sanitized)'."
      let names = command.configuration.subcommands.map { $0._commandName } + ["help"]
      if let name = NameSuggestion.closest(to: word, in: names) {
        line += " Did you mean '\(name)'?"
      }
      return line
    }
    return nil
  }

  /// Among `arguments` is a file whose name looks like options of one letter.
  private static func fileLikeOption(_ message: String, _ arguments: [String]) -> String? {
    let isRefused =
      message.hasPrefix("Error: Missing expected argument")
      || message.hasPrefix("Error: Unknown option") || message.hasPrefix("Error: a file is needed")
    guard isRefused,
      let name = arguments.prefix(while: { $0 != "--" }).first(where: {
        $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.contains(".") && !$0.contains("=")
          && $0.dropFirst().first?.isNumber == false
      })
    else { return nil }
    return "Error: Unknown option '\(name.sanitized)'; a file of that name is ./\(name.sanitized)"
  }

  /// Something is missing, and among `arguments` is an option that the command does not have.
  private static func hiddenOption(_ message: String, _ arguments: [String]) -> String? {
    guard message.hasPrefix("Error: Missing expected argument") else { return nil }
    var command: any ParsableCommand.Type = ZoetropeCommand.self
    var words = arguments.prefix { $0 != "--" }[...]
    while let next = words.first.flatMap({ CommandTree.subcommand(of: command, named: $0) }) {
      command = next
      words = words.dropFirst()
    }
    let help = ZoetropeCommand.helpMessage(for: command, columns: 80)
    let names = help.split { !$0.isLetter && $0 != "-" }.filter { $0.hasPrefix("--") }
    for word in words where word.hasPrefix("--") {
      let name = word.prefix { $0 != "=" }
      if names.contains(name) { continue }
      guard let meant = NameSuggestion.closest(to: name, in: names) else { continue }
      return "Error: Unknown option '\(String(name).sanitized)'. Did you mean '\(meant)'?"
    }
    return nil
  }
}
