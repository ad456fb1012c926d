import Foundation
import Testing
import ZoetropeTestSupport

/// What the README and the guides show is code that compiles.
@Suite(.timeLimit(.minutes(1))) struct SampleTests {
  static let root = URL(fileURLWithPath: FixtureLibrary().root).deletingLastPathComponent()
  static let pages: [String] = {
    let guides = "Sources/Zoetrope/Zoetrope.docc"
    let files = try? FileManager.default.contentsOfDirectory(
      atPath: root.appending(path: guides).path)
    return ["README.md"] + (files ?? []).filter { $0.hasSuffix(".md") }.map { "\(guides)/\($0)" }
  }()

  @Test func `there are guides beside the README`() { #expect(Self.pages.count > 5) }

  @Test(arguments: pages) func `every sample is compiled with the tests`(page: String) throws {
    let compiled = Self.lines(
      try String(
        contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
          .appending(path: "Samples.swift"), encoding: .utf8))
    let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
    for sample in text.components(separatedBy: "```swift\n").dropFirst() {
      let lines = Self.lines(String(sample.prefix { $0 != "`" }))
        .filter { !$0.hasPrefix("import ") }
      let isThere = compiled.indices.contains { start in
        compiled[start...].starts(with: lines)
      }
      #expect(isThere, "\(lines.first ?? "an empty sample") ... is not in Samples.swift")
    }
  }

  /// The lines that are not empty, without indentation and with single spaces.
  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map {
      $0.split(separator: " ").joined(separator: " ")
    }.filter { !$0.isEmpty }
  }
}
