import Foundation
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeFrames

/// What README says: its figures are those that were measured, and its files are there.
@Suite(.timeLimit(.minutes(10))) struct READMETests {
  private static let root = URL(fileURLWithPath: FixtureLibrary().root).deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// A table of ratios in `Benchmarks/RESULTS.md`.
  private struct Ratios {
    let fileCount: Int
    /// What each peer takes, in times of ours.
    let peers: [(name: String, ratio: String)]

    init(_ heading: String, in results: String) throws {
      let section = try #require(
        results.components(separatedBy: "## \(heading)\n").dropFirst().first)
      let rows = section.components(separatedBy: "\n## ")[0].split(separator: "\n")
        .filter { $0.hasPrefix("|") }
        .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
      let names = try #require(rows.first)
      let means = try #require(rows.last)
      try #require(means.first == "geometric mean")
      // Without the names, the line below them and the means.
      fileCount = rows.count - 3
      peers = zip(names, means).compactMap { name, mean in
        guard name.hasPrefix("× "), !mean.isEmpty else { return nil }
        return (String(name.dropFirst(2)), mean.replacing("*", with: ""))
      }
    }
  }

  private static let headings = [
    "GIF, every frame to RGBA, 1 core", "APNG, every frame to RGBA, 1 core",
    "Every frame to PNG files, 2 cores, whole programs",
  ]

  /// The lines of the table of figures.
  private static func figures() throws -> [Substring] {
    let parts = try text("README.md").components(
      separatedBy: "<!-- figures: `make figures` writes them -->\n")
    let table = try #require(parts.dropFirst().first).components(
      separatedBy: "<!-- end of figures -->")[0]
    return table.split(separator: "\n").dropFirst(2).map { $0 }
  }

  @Test func `the ratios of README are those of the last measurement`() throws {
    let results = try Self.text("Benchmarks/RESULTS.md")
    let lines = try Self.figures()
    try #require(lines.count == 5)
    for (heading, line) in zip(Self.headings, lines) {
      let ratios = try Ratios(heading, in: results)
      #expect(ratios.peers.count == 3)
      let others = ratios.peers.map { "\($0.name) \($0.ratio) ×" }.joined(separator: ", ")
      #expect(line.contains("| \(others) the time |"), "\(line): make figures")
      #expect(line.contains("every frame of \(ratios.fileCount) "), "\(line): make figures")
    }
  }

  @Test func `the memory and the lateness of README are those of the last measurement`() throws {
    let results = try Self.text("Benchmarks/RESULTS.md")
    let lines = try Self.figures()
    try #require(lines.count == 5)
    let memory = try #require(
      results.firstMatch(of: /\| 1 \| 10000 gif \| ([0-9.]+) \| ([0-9.]+) \|/))
    #expect(lines[3].contains("| \(memory.2) MB |"), "\(lines[3]): make figures")
    let ours = try #require(
      results.firstMatch(of: /\| frames handed over: late by [^|]*\| (\d+) \/ (\d+) \//))
    let call = try #require(
      results.firstMatch(of: /`clock_nanosleep`, same run: late by [^|]*\| (\d+) \/ (\d+) \//))
    #expect(lines[4].contains("| \(ours.1) and \(ours.2) µs |"), "\(lines[4]): make figures")
    #expect(
      lines[4].contains("`clock_nanosleep` \(call.1) and \(call.2) µs"), "\(lines[4]): make figures"
    )
  }

  @Test func `the plot has a bar for each ratio, as long as the ratio is large`() throws {
    let results = try Self.text("Benchmarks/RESULTS.md")
    var wanted: [(name: String, ratio: String)] = []
    for heading in Self.headings {
      wanted.append(("zoetrope", "1"))
      wanted += try Ratios(heading, in: results).peers
    }
    let bars = try Self.text("Benchmarks/figures.svg").matches(
      of:
        /text-anchor="end">([^<]*)<\/text>\n<rect [^>]*width="([0-9.]+)"[^>]*>\n<text [^>]*>([0-9.]+) ×</
    )
    try #require(bars.count == wanted.count)
    let unit = try #require(bars.first.flatMap { Double($0.2) })
    for (bar, (name, ratio)) in zip(bars, wanted) {
      #expect(String(bar.1) == name)
      #expect(String(bar.3) == ratio, "\(name): make figures")
      let length = try #require(Double(bar.2))
      #expect(abs(length - (Double(ratio) ?? 0) * unit) < 0.1, "\(name): make figures")
    }
  }

  @Test func `every file that README links is there`() throws {
    let links = try Self.text("README.md").matches(of: /\]\(([^)#:]+)\)/).map { String($0.1) }
    #expect(links.count > 15)
    for link in links {
      #expect(
        FileManager.default.fileExists(atPath: Self.root.appending(path: link).path), "\(link)")
    }
  }

  @Test func `the recording is small, whole, and plays for ever`() throws {
    let bytes = try Data(contentsOf: Self.root.appending(path: "Examples/player.gif"))
    #expect(bytes.count < 300_000)
    let image = try AnimatedImage(bytes: Array(bytes))
    #expect(image.damage.isEmpty)
    #expect(image.frames.count > 50)
    #expect(image.playCount == .indefinite)
    #expect(image.duration() < .seconds(30))
  }
}
