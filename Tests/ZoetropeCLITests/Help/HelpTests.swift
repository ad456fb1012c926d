import ArgumentParser
import Testing

@testable import ZoetropeCLI

/// What the help says, for every command.
@Suite(.timeLimit(.minutes(10))) struct HelpTests {
  private func tool() throws -> CommandFacts { try #require(CommandFacts.tool) }

  @Test func `a command with titles has one for each of its options, and for no other`() throws {
    for command in try tool().all {
      let manual = CommandManual(command)
      guard !manual.titles.isEmpty else { continue }
      let titled = manual.titles.flatMap(\.options)
      #expect(Set(titled).count == titled.count, "\(manual.name) has one twice")
      let reading = Set(["follow", "jobs"])
      let options = Set(command.options.map(\.longName)).subtracting(["help", "version"])
      #expect(options.subtracting(titled).isEmpty, "\(manual.name)")
      // Commands share the title of reading, and not all can follow a file.
      #expect(Set(titled).subtracting(options).isSubset(of: reading), "\(manual.name)")
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
    // What a line cannot say: the fields of a template.
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

  @Test func `every command has examples that fit a line and that it takes`() throws {
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

  @Test func `help has titles in order, and its examples at the end`() {
    let help = ZoetropeTool.arranged(
      ZoetropeCommand.helpMessage(for: CacheWarmCommand.self, columns: 80))
    let headings = help.split(separator: "\n").filter {
      $0.hasSuffix(":") && $0.allSatisfy { $0.isUppercase || $0 == ":" }
    }
    #expect(headings == ["ARGUMENTS:", "CACHE:", "SCALING:", "READING:", "OPTIONS:", "EXAMPLES:"])
    for title in CacheWarmCommand.optionTitles {
      for option in title.options where option != "follow" {
        #expect(help.contains("\n  --\(option)"), "\(option)")
      }
    }
    #expect(help.hasSuffix("zoetrope cache warm film.png --cache-limit 2G"))
  }

  @Test func `arranging help loses no line of it`() throws {
    for command in try tool().all {
      let type = try #require(CommandTree.command(named: command.words.dropFirst()))
      let help = ZoetropeCommand.helpMessage(for: type, columns: 80)
      let lines = help.split(separator: "\n")
      let arranged = Set(ZoetropeTool.arranged(help).split(separator: "\n"))
      for line in lines where line != "OPTIONS:" { #expect(arranged.contains(line), "\(line)") }
    }
  }

  @Test func `what is no help is left alone`() {
    #expect(
      ZoetropeTool.arranged("#compdef zoetrope\n\nOPTIONS:\n  --x")
        == "#compdef zoetrope\n\nOPTIONS:\n  --x")
  }
}
