import Foundation
import Testing

/// What the module's documentation shows is code that compiles, and it leaves no type out.
@Suite(.timeLimit(.minutes(1))) struct TerminalDocumentationTests {
  private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let module = here.appending(path: "../../../Sources/ZoetropeTerminal").standardized
  private static let catalog = module.appending(path: "ZoetropeTerminal.docc")

  @Test(arguments: ["ZoetropeTerminal.md", "DrawingPictures.md"])
  func `every sample is compiled with the tests`(page: String) throws {
    let compiled = Self.lines(try Self.text(Self.here.appending(path: "Samples.swift")))
    let samples = try Self.text(Self.catalog.appending(path: page))
      .components(separatedBy: "```swift\n").dropFirst()
    #expect(samples.isEmpty == (page == "ZoetropeTerminal.md"))
    for sample in samples {
      let lines = Self.lines(String(sample.prefix { $0 != "`" }))
      #expect(
        compiled.indices.contains { compiled[$0...].starts(with: lines) },
        "\(lines.first ?? "an empty sample") ... is not in Samples.swift")
    }
  }

  @Test func `the landing page names every public type`() throws {
    let page = try Self.text(Self.catalog.appending(path: "ZoetropeTerminal.md"))
    var count = 0
    let files = FileManager.default.enumerator(at: Self.module, includingPropertiesForKeys: nil)
    for case let file as URL in try #require(files) where file.pathExtension == "swift" {
      for match in try Self.text(file).matches(
        of: /(?m)^public (?:struct|enum|protocol|(?:final )?class) (\w+)/)
      {
        count += 1
        #expect(page.contains("- ``\(match.output.1)``\n"), "\(match.output.1)")
      }
    }
    #expect(count > 20)
  }

  private static func text(_ file: URL) throws -> String {
    try String(contentsOf: file, encoding: .utf8)
  }

  /// The lines that are not empty, without indentation and with single spaces.
  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
      .filter { !$0.isEmpty }
  }
}
