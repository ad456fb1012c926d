import ArgumentParser
import TestRunning
import Testing

@testable import ZoetropeCLI

/// `-h`, which shows less than `--help`.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct ShortHelpTests {
  @Test func `every command has a short help that fits a screen`() throws {
    for command in try #require(CommandFacts.tool).all where command.commands.isEmpty {
      let words = Array(command.words.dropFirst())
      let text = try #require(ShortHelp.text(for: words + ["-h"]), "\(words)")
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 80 }, "\(text)")
      #expect(lines[0].hasPrefix(command.abstract ?? "?"))
      #expect(text.contains("\nUsage: zoetrope \(words.joined(separator: " "))"))
      let examples = CommandManual(command).examples.prefix(3)
      for example in examples { #expect(text.contains("\n  \(example)\n"), "\(words)") }
      #expect(text.contains("  --help  "))
    }
  }

  @Test func `a group of commands lists them`() throws {
    let text = try #require(ShortHelp.text(for: ["cache", "-h"]))
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 80 }, "\(text)")
    for command in CacheCommand.configuration.subcommands {
      #expect(text.contains("\n  \(command._commandName)  "))
    }
  }

  @Test func `the options that it lists exist`() throws {
    for command in try #require(CommandFacts.tool).all {
      guard let text = ShortHelp.text(for: command.words.dropFirst() + ["-h"]),
        command.commands.isEmpty
      else { continue }
      let listed = text.matches(of: /\n  (?:-[a-z0], )?--([a-z-]+)/).map { String($0.1) }
      let known = command.options.map(\.longName)
      #expect(Set(listed).isSubset(of: known), "\(command.commandName)")
      #expect(listed.count == ShortHelp.optionCount(of: command.commandName) + 1)
    }
  }

  @Test func `without arguments the tool shows examples and commands`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run()
      #expect(result.status == 0 && result.text == ShortHelp.overview)
      #expect(try tool.run("-h").text == result.text)
      let lines = result.text.split(separator: "\n")
      #expect(lines[1].hasPrefix("  zoetrope party.gif"))
      #expect(lines.allSatisfy { $0.count <= 80 } && lines.count < 24)
      #expect(try tool.run("--help").text.contains("EXAMPLES:"))
      #expect(try tool.run("cat.gif", "-h").text == tool.run("play", "-h").text)
      #expect(try tool.run("info", "--help").text.contains("READING:"))
    }
  }

  @Test func `usage lines fit the screen`() throws {
    for command in try #require(CommandFacts.tool).all {
      var type = ZoetropeCommand.self as any ParsableCommand.Type
      for word in command.words.dropFirst() {
        type = type.configuration.subcommands.first { $0._commandName == word } ?? type
      }
      let help = ZoetropeCommand.helpMessage(for: type, columns: 80)
      let usage = help.split(separator: "\n").first { $0.hasPrefix("USAGE: ") } ?? ""
      #expect(!usage.isEmpty && usage.count <= 80, "\(usage)")
    }
  }

  @Test func `errors are one line and a hint, in the voice of the tool`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run("info", "cat.gif", "--jsno")
      #expect(
        result.errors
          == "zoetrope: error: unknown option '--jsno'. Did you mean '--json'?\n"
          + "  See 'zoetrope info -h' for the options.\n")
      #expect(result.status == 2)
      #expect(
        try tool.run("convrt", "cat.gif").errors
          == "zoetrope: error: unknown command 'convrt'. Did you mean 'convert'?\n"
          + "  See 'zoetrope -h' for the commands.\n")
      let version = try tool.run("--version").text
      #expect(try tool.run("-V").text == version)
      #expect(try tool.run("version").text == version)
    }
  }

  @Test func `completion scripts have a command`() throws {
    try withTool { (tool: Tool) throws in
      for shell in ["bash", "zsh", "fish"] {
        let script = try tool.run("completions", shell)
        #expect(script.status == 0)
        let parsers = try tool.run("--generate-completion-script", shell).text
        #expect(Set(parsers.split(separator: "\n")) == Set(script.text.split(separator: "\n")))
      }
      #expect(try tool.run("completions", "tcsh").status == 2)
    }
  }
}
