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
    try #require(lines.count == 8)
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
    try #require(lines.count == 8)
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

  private static func geometricMean(_ values: [Double]) -> Double {
    exp(values.reduce(0) { $0 + log($1) } / Double(values.count))
  }

  @Test func `the gain of optimize in README is that of the last measurement`() throws {
    let results = try Self.text("Benchmarks/WRITING.md")
    let table = results.components(separatedBy: "\n## Scaling to half\n")[0]
    let lines = try Self.figures()
    try #require(lines.count == 8)
    let line = lines[5]
    let mean = try #require(
      table.firstMatch(of: /\| geometric mean \|[ |]*\*\*([0-9.]+)\*\* \| \*\*([0-9.]+)\*\* \|/))
    #expect(
      line.contains("gifsicle -O3 \(mean.1) × the time, \(mean.2) × the processor time,"),
      "\(line): make figures")
    // The last cell of each file is our bytes divided by gifsicle's.
    let ratios = table.matches(of: /\n\| [^|]+\.gif \|[^\n]*\| ([0-9.]+) \|/).compactMap {
      Double($0.1)
    }
    #expect(line.contains("`optimize`, \(ratios.count) GIFs,"), "\(line): make figures")
    let bytes = try #require(line.firstMatch(of: /([0-9.]+) × the bytes/).flatMap { Double($0.1) })
    #expect(abs(bytes * Self.geometricMean(ratios) - 1) < 0.006, "\(line): make figures")
  }

  @Test func `the gain of scaling in README is that of the last measurement`() throws {
    let results = try Self.text("Benchmarks/WRITING.md")
    let table = try #require(
      results.components(separatedBy: "\n## Scaling to half\n").dropFirst().first)
    var programs: [String: [(seconds: Double, bytes: Double)]] = [:]
    for row in table.matches(
      of:
        /\| [^|]*\| ([^|]+) \| ([0-9,]+) \| [0-9.]+ \| ([0-9.]+) \| [0-9.]+ \| [0-9.]+ \|\n/
    ) {
      let bytes = try #require(Double(row.2.replacing(",", with: "")))
      let seconds = try #require(Double(row.3))
      programs[String(row.1), default: []].append((seconds, bytes))
    }
    let ours = try #require(programs["zoetrope"])
    let lines = try Self.figures()
    try #require(lines.count == 8)
    for (line, isTime) in [(lines[6], true), (lines[7], false)] {
      #expect(line.contains("`convert --size 50%`, \(ours.count) GIFs,"), "\(line): make figures")
      let peers = line.matches(of: /([A-Za-z][A-Za-z0-9 \-]*) ([0-9.]+) ×/)
      #expect(
        peers.map { String($0.1) } == ["gifsicle -O3", "ffmpeg", "Pillow", "ImageMagick"])
      for peer in peers {
        let theirs = try #require(programs[String(peer.1)])
        try #require(theirs.count == ours.count)
        let ratios = zip(theirs, ours).map { their, our in
          isTime ? their.seconds / our.seconds : their.bytes / our.bytes
        }
        let ratio = try #require(Double(peer.2))
        #expect(abs(ratio - Self.geometricMean(ratios)) < 0.051, "\(line): make figures")
      }
    }
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
