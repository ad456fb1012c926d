import Foundation
import Testing
import ZoetropeTestSupport

/// Every sample of the README, the documentation pages and the documentation comments is code that compiles, in
/// `Tests/DocumentationSamples`.
@Suite(.timeLimit(.minutes(10))) struct SampleTests {
  private static let root = URL(fileURLWithPath: FixtureLibrary().root).deletingLastPathComponent()
  /// The README and all pages.
  static let pages: [String] = ["README.md"] + files(in: "Sources", "md")

  @Test func `both catalogs are searched`() {
    #expect(Self.pages.contains("Sources/Zoetrope/Zoetrope.docc/Playing.md"))
    #expect(Self.pages.contains("Sources/ZoetropeTerminal/ZoetropeTerminal.docc/ReadingKeys.md"))
  }

  @Test(arguments: pages) func `every sample of a page is compiled`(page: String) throws {
    let samples = try Self.text(page).components(separatedBy: "```swift\n").dropFirst()
    guard !samples.isEmpty else { return }
    let name = URL(fileURLWithPath: page).deletingPathExtension().lastPathComponent
    let compiled = Self.lines(try Self.text("Tests/DocumentationSamples/\(name).swift"))
    for sample in samples { Self.expect(String(sample.prefix { $0 != "`" }), in: compiled) }
  }

  @Test func `every sample of a documentation comment is compiled`() throws {
    let compiled = Self.lines(try Self.text("Tests/DocumentationSamples/Comments.swift"))
    let modules = [
      "ZoetropeCore", "ZoetropeCodec", "ZoetropeScaling", "ZoetropeFrames", "ZoetropeCaching",
      "ZoetropeStore", "ZoetropePlayback", "ZoetropeRemote", "ZoetropeWriting", "Zoetrope",
      "ZoetropeTerminal",
    ]
    let folders = modules.map { "Sources/\($0)" } + ["Tests/ZoetropeTestSupport"]
    var count = 0
    for file in folders.flatMap({ Self.files(in: $0, "swift") }) {
      let text = try Self.text(file)
      guard text.contains("/// ```swift") else { continue }
      let comments = text.split(separator: "\n").map { $0.drop { $0 == " " } }
        .filter { $0.hasPrefix("///") }.map { $0.dropFirst(3) }.joined(separator: "\n")
      for sample in comments.components(separatedBy: "```swift\n").dropFirst() {
        Self.expect(String(sample.prefix { $0 != "`" }), in: compiled)
        count += 1
      }
    }
    #expect(count > 10)
  }

  /// Fails unless the lines of `sample` stand in `compiled`, one after the other.
  private static func expect(_ sample: String, in compiled: [String]) {
    let lines = lines(sample).filter { !$0.hasPrefix("import ") }
    let isThere = compiled.indices.contains { compiled[$0...].starts(with: lines) }
    #expect(isThere, "\(lines.first ?? "an empty sample") ... is not compiled")
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The paths of the files in `folder` and below that end in `kind`.
  private static func files(in folder: String, _ kind: String) -> [String] {
    let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
    return (names.map { Array($0) } ?? []).compactMap { $0 as? String }
      .filter { $0.hasSuffix(".\(kind)") }.map { "\(folder)/\($0)" }.sorted()
  }

  /// The lines that are not empty, without indentation and with single spaces.
  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map {
      $0.split(separator: " ").joined(separator: " ")
    }.filter { !$0.isEmpty }
  }
}
