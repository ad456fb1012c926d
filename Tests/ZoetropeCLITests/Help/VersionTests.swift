import CZoetrope
import Foundation
import Testing

@testable import ZoetropeCLI

/// The version of the tool, its manual and the changelog.
@Suite(.timeLimit(.minutes(10))) struct VersionTests {
  @Test func `the version is that of the changelog`() throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let changes = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8)
    let released = changes.firstMatch(of: /\n## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d\n/)
    // Until there is a release, the changelog names the first one in a sentence.
    let coming = changes.firstMatch(of: /\nThe first release, (\d+\.\d+\.\d+), will have/)
    let version = try #require(released?.1 ?? coming?.1)
    #expect(VersionText.number == version)
    #expect(VersionText.text.hasPrefix("zoetrope \(version)\n"))
    let parts = [ZOETROPE_VERSION_MAJOR, ZOETROPE_VERSION_MINOR, ZOETROPE_VERSION_PATCH]
    #expect(parts.map(String.init).joined(separator: ".") == version)
  }

  @Test func `the changelog has no sections but those of Keep a Changelog`() throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let changes = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8)
    let titles = changes.matches(of: /\n### ([^\n]+)/).map { String($0.1) }
    let known: Set<String> = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    #expect(!titles.isEmpty)
    #expect(Set(titles).isSubset(of: known))
    #expect(changes.contains("\n## [Unreleased]\n"))
  }
}
