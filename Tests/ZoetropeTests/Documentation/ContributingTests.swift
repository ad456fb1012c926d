import Foundation
import TestRunning
import Testing
import ZoetropeTestSupport

/// CONTRIBUTING.md describes the tree as it is.
@Suite(.timeLimit(.minutes(10)), .computes) struct ContributingTests {
  private static let root = URL(fileURLWithPath: FixtureLibrary().root).deletingLastPathComponent()

  private static let page =
    (try? String(contentsOf: root.appending(path: "CONTRIBUTING.md"), encoding: .utf8)) ?? ""

  private static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: root.appending(path: path).path)
  }

  /// All paths of files below `folder`, relative to the root.
  private static func files(below folder: String) -> [String] {
    let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
    return (names.map { Array($0) } ?? []).compactMap { $0 as? String }.map { "\(folder)/\($0)" }
  }

  private static let files =
    files(below: "Sources") + files(below: "Tests") + files(below: "Examples")

  /// What stands in backquotes outside the map.
  private static let quoted: [String] = page.matches(of: /`([^`]+)`/).map {
    $0.1.split(separator: "\n").joined(separator: " ")
  }

  /// The folders that the map names below Sources, as paths.
  private static let mapped: [String] = {
    let lines = page.split(separator: "\n").drop { $0 != "    Sources/" }.dropFirst()
    var paths: [String] = []
    var module = ""
    for line in lines.prefix(while: { $0.hasPrefix("      ") }) {
      let indentation = line.prefix { $0 == " " }.count
      // The names end at the text, before which there are two spaces if there is one.
      let names = line.dropFirst(indentation).components(separatedBy: "  ")[0].split(separator: " ")
        .map { $0.hasSuffix("/") ? String($0.dropLast()) : String($0) }
      if indentation == 6 {
        module = names.last ?? ""
        paths += names.map { "Sources/\($0)" }
      } else {
        paths += names.map { "Sources/\(module)/\($0)" }
      }
    }
    return paths
  }()

  @Test func `the map names every module, and no other`() throws {
    let modules = try FileManager.default.contentsOfDirectory(
      atPath: Self.root.appending(path: "Sources").path
    ).filter { !$0.hasPrefix(".") }.map { "Sources/\($0)" }
    let mapped = Self.mapped.filter { $0.split(separator: "/").count == 2 }
    #expect(mapped.sorted() == modules.sorted())
  }

  @Test func `the map names every folder of a module, and no other`() {
    let folders = Set(
      Self.files.filter { $0.hasPrefix("Sources/Zoetrope") && $0.hasSuffix(".swift") }
        .map { $0.split(separator: "/").prefix(3).joined(separator: "/") }
        .filter { !$0.hasSuffix(".swift") })
    let mapped = Set(Self.mapped.filter { $0.split(separator: "/").count == 3 })
    // One folder of its own in a module is named by the module's line.
    #expect(folders.subtracting(mapped) == ["Sources/Zoetrope/Loading"])
    #expect(mapped.subtracting(folders) == [])
  }

  @Test func `every file and folder that it names exists`() {
    let paths = Self.quoted.filter {
      $0.contains(/^[A-Za-z.+_\/-]+$/) && ($0.contains("/") || $0.contains(/\.(swift|md|h|py)$/))
    }
    #expect(paths.count > 20)
    for path in paths {
      let name = path.hasSuffix("/") ? String(path.dropLast()) : path
      let isThere =
        Self.exists(name)
        || Self.files.contains { $0.hasSuffix("/\(name)") }
      #expect(isThere, "\(path)")
    }
  }

  @Test func `every type that it names is declared`() throws {
    var declared: Set<String> = []
    for file in Self.files where file.hasSuffix(".swift") {
      let text = try String(contentsOf: Self.root.appending(path: file), encoding: .utf8)
      for match in text.matches(
        of: /\b(?:struct|class|enum|protocol|actor|typealias) ([A-Z]\w+)/)
      {
        declared.insert(String(match.1))
      }
    }
    // The traits of the package and the clock of the standard library.
    declared.formUnion(["CommandLine", "Clock"])
    let names = Self.quoted.compactMap { $0.wholeMatch(of: /([A-Z][a-z]?[A-Za-z]+)(?:[.(].*)?/) }
      .filter { !$0.0.contains("/") && !$0.0.contains(/\.(swift|md|h|py)$/) }
      .map { String($0.1) }
    #expect(names.count > 60)
    for name in names {
      let isDeclared = declared.contains(name)
      #expect(isDeclared, "\(name)")
    }
  }

  @Test func `every make target that it names exists`() throws {
    let makefile = try String(contentsOf: Self.root.appending(path: "Makefile"), encoding: .utf8)
    let targets = Set(makefile.matches(of: /\n([a-z-]+):/).map { String($0.1) })
    var count = 0
    for call in Self.quoted where call.hasPrefix("make ") {
      let words = call.split(separator: " ").dropFirst().map(String.init)
      for word in words.prefix(while: { $0.contains(/^[a-z-]+$/) }) {
        count += 1
        let isTarget = targets.contains(word)
        #expect(isTarget, "\(call)")
      }
    }
    #expect(count > 8)
  }
}
