import ArgumentParser
import TestRunning
import Testing

@testable import ZoetropeCLI

/// What the help says, for every command.
@Suite(.timeLimit(.minutes(10)), .computes) struct HelpTests {
  private func tool() throws -> CommandFacts { try #require(CommandFacts.tool) }

  @Test func `a command with titles has one for each of its options`() throws {
    for command in try tool().all where !CommandManual(command).titles.isEmpty {
      let untitled = command.options.filter { $0.sectionTitle == nil }.map(\.longName)
      #expect(untitled == ["version", "help"], "\(command.words)")
    }
  }

  @Test func `every value of an option is explained`() throws {
    var count = 0
    for command in try tool().all {
      for option in command.options {
        for value in option.allValues ?? [] {
          count += 1
          let explanation = option.allValueDescriptions?[value] ?? ""
          #expect(!explanation.isEmpty, "\(command.commandName) --\(option.longName) \(value)")
          #expect(explanation.count <= 52, "\(explanation)")
        }
        #expect(
          option.allValueDescriptions?.keys.allSatisfy { option.allValues?.contains($0) == true }
            ?? true, "\(command.commandName) --\(option.longName)")
      }
    }
    #expect(count > 60)
  }

  @Test func `an option's text is short, and one sentence or two`() throws {
    // One line cannot list the fields of a template.
    let longer: Set<String> = ["info --format"]
    for command in try tool().all {
      for option in command.options
      where !longer.contains("\(command.commandName) --\(option.longName)") {
        let text = option.abstract ?? ""
        #expect(
          (1...90).contains(text.count), "\(command.commandName) --\(option.longName): \(text)")
      }
    }
  }

  @Test func `every command has examples that fit a line and that it accepts`() throws {
    for command in try tool().all {
      let examples = CommandManual(command).examples
      #expect(examples.count >= 2, "\(command.commandName)")
      for example in examples {
        #expect(example.count <= 76, "\(example)")
        let words = CommandWords.words(of: example)
        #expect(
          words.starts(with: command.words) || !command.commands.isEmpty, "\(example)")
        #expect(throws: Never.self, "\(example)") {
          _ = try ZoetropeCommand.parseAsRoot(Array(words.dropFirst()))
        }
      }
    }
  }

  @Test func `help has its examples and titles in order`() throws {
    let help = ZoetropeCommand.helpMessage(for: CacheWarmCommand.self, columns: 80)
    let headings = help.split(separator: "\n").filter {
      $0.hasSuffix(":") && $0.allSatisfy { $0.isUppercase || $0 == ":" }
    }
    #expect(
      headings == [
        "EXAMPLES:", "ARGUMENTS:", "FILES:", "CACHE:", "SCALING:", "READING:", "OPTIONS:",
      ])
    let command = try #require(try tool().all.first { $0.commandName == "warm" })
    for option in command.options { #expect(help.contains("--\(option.longName)")) }
    #expect(help.contains("  zoetrope cache warm film.png --cache-limit 2G\n"))
  }
}
