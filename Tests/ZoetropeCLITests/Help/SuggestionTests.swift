import ArgumentParser
import TestRunning
import Testing

@testable import ZoetropeCLI

/// Misspelled words are answered with the word that was meant.
@Suite(.timeLimit(.minutes(10)), .computes) struct SuggestionTests {
  @Test(arguments: [
    ("exract", "extract"), ("inof", "info"), ("plya", "play"), ("sheets", "sheet"),
    ("expl", "explain"), ("hepl", "help"),
  ])
  func `a word close to a command suggests that command`(word: String, command: String) {
    let names = ZoetropeCommand.configuration.subcommands.map { $0._commandName } + ["help"]
    #expect(NameSuggestion.closest(to: word, in: names) == command)
  }

  @Test(arguments: ["", "x", "a.gif", "cat.gif", "resize", "-", "ieieieieieieie"])
  func `a word unlike any command suggests none`(word: String) {
    let names = ZoetropeCommand.configuration.subcommands.map { $0._commandName } + ["help"]
    #expect(NameSuggestion.closest(to: word, in: names) == nil)
  }

  /// The tool's message about arguments that the parser refuses.
  private func message(_ arguments: [String]) -> String {
    do {
      _ = try ZoetropeCommand.parseAsRoot(arguments)
      return ""
    } catch {
      return UsageHint.improved(ZoetropeCommand.fullMessage(for: error), for: arguments)
    }
  }

  private static let refusals: [(line: String, message: String)] = [
    ("exract a.gif", "Error: Unknown command 'exract'. Did you mean 'extract'?"),
    ("covert a.gif", "Error: Unknown command 'covert'. Did you mean 'convert'?"),
    ("resize", "Error: Unknown command 'resize'. Did you mean 'convert'?"),
    ("compress a.gif", "Error: Unknown command 'compress'. Did you mean 'optimize'?"),
    ("cache resize", "Error: Unknown command 'resize'."),
    ("frobnicate", "Error: Unknown command 'frobnicate'."),
    (
      "convert a.gif -o b.gif --sise 8x8",
      "Error: Unknown option '--sise'. Did you mean '--size'?"
    ),
    (
      "convert a.gif -o b.gif --width 8",
      "Error: Unknown option '--width'. Did you mean '--size'?"
    ),
    (
      "cache warm a.gif --linaer-light",
      "Error: Unknown option '--linaer-light'. Did you mean '--linear-light'?"
    ),
    // Neither command has this option or a similar one.
    ("info a.gif --width 8", "Error: Unknown option '--width'"),
    ("extract a.gif -o o/ --plan", "Error: Unknown option '--plan'"),
    (
      "optimize a.gif -o b.gif --plan",
      "Error: Unknown option '--plan'. To see the sizes without writing a file, use -o /dev/null."
    ),
    ("cache sttat", "Error: Unknown command 'sttat'. Did you mean 'stat'?"),
    ("cache a.gif", "Error: Unknown command 'a.gif'."),
    ("extract a.gif --otput=b", "Error: Unknown option '--otput'. Did you mean '--output'?"),
    ("play a.gif --protocl", "Error: Unknown option '--protocl'. Did you mean '--protocol'?"),
    ("extract a.gif", "Error: Missing expected argument '--output <output>'"),
    ("extract -o a -- --otput", ""),
    ("info -x.gif", "Error: Unknown option '-x.gif'; for a file of that name, use ./-x.gif"),
    ("play -x.gif", "Error: Unknown option '-x.gif'; for a file of that name, use ./-x.gif"),
  ]

  @Test(arguments: refusals)
  func `the first line suggests the intended word`(_ refusal: (line: String, message: String)) {
    let arguments = refusal.line.split(separator: " ").map(String.init)
    #expect(message(arguments).prefix { $0 != "\n" } == refusal.message)
  }

  @Test func `help on a command that does not exist names the one that was meant`() {
    let message = UsageHint.unknownTopic(of: ["help", "exract"])
    #expect(
      message?.hasPrefix("Error: Unknown command 'exract'. Did you mean 'extract'?\n") == true)
    #expect(UsageHint.unknownTopic(of: ["help", "cache", "sttat"])?.contains("'stat'") == true)
    for arguments in [
      ["help"], ["help", "extract"], ["help", "cache", "warm"], ["exract"], ["help", "help"],
    ] {
      #expect(UsageHint.unknownTopic(of: arguments) == nil)
    }
  }

  @Test func `usage stays below the first line`() {
    let lines = message(["exract"]).split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines[1].hasPrefix("Usage: zoetrope"))
  }

  @Test func `a name is printed without its control characters`() {
    #expect(!message(["\u{1B}[31mexract"]).contains("\u{1B}"))
  }
}
