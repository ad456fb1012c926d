import Foundation
import Testing

/// The module's documentation leaves no type out. (`SampleTests` looks at its samples.)
@Suite(.timeLimit(.minutes(10))) struct TerminalDocumentationTests {
  private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let module = here.appending(path: "../../../Sources/ZoetropeTerminal").standardized
  private static let catalog = module.appending(path: "ZoetropeTerminal.docc")

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
    #expect(count > 10)
  }

  private static func text(_ file: URL) throws -> String {
    try String(contentsOf: file, encoding: .utf8)
  }
}
