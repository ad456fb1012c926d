import ArgumentParser
import Foundation
import TestRunning
import Testing

@testable import ZoetropeCLI

/// The commands that README lists.
@Suite(.timeLimit(.minutes(10)), .computes) struct CommandTableTests {
  private static func readme() throws -> String {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    return try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
  }

  @Test func `README lists every command, in order`() throws {
    let listed = try Self.readme().matches(of: /\n\| `zoetrope ([a-z]+)` \| [a-z]/).map {
      String($0.1)
    }
    #expect(listed == ZoetropeCommand.configuration.subcommands.map { $0._commandName })
  }

  @Test func `the parser accepts every command line of README`() throws {
    let blocks = try Self.readme().components(separatedBy: "```sh\n").dropFirst()
    var count = 0
    for block in blocks {
      for line in block.components(separatedBy: "```")[0].split(separator: "\n") {
        let call = line.split(separator: " | ").last ?? line
        guard call.hasPrefix("zoetrope ") else { continue }
        let words = CommandWords.words(of: call.components(separatedBy: "  #")[0])
        count += 1
        #expect(throws: Never.self, "\(line)") {
          _ = try ZoetropeCommand.parseAsRoot(Array(words.dropFirst()))
        }
      }
    }
    #expect(count >= 12)
  }
}
