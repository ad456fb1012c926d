import Testing
import Zoetrope

@testable import ZoetropeCLI
@testable import ZoetropeProcess

/// The progress line and the summary of several inputs.
@Suite(.timeLimit(.minutes(10))) struct BatchLineTests {
  private func line(
    _ name: String = "penguins.png", bytes: Int? = 4_100_000, left: Int? = 120
  ) -> BatchLine {
    BatchLine(
      number: 37, count: 500, name: name, done: 12, total: 86, bytes: bytes, secondsLeft: left)
  }

  @Test func `it has the file, its frames, all bytes and the time left`() {
    #expect(line().text(width: 80) == "[37/500] penguins.png  12/86  4.1 MB  2 min left")
    let checked = BatchLine(
      number: 2, count: 9, name: "a.gif", done: 0, total: nil, bytes: nil, secondsLeft: nil,
      isChecking: true)
    #expect(checked.text(width: 80) == "[2/9] a.gif  checking names")
    #expect(line(bytes: nil, left: nil).text(width: 80) == "[37/500] penguins.png  12/86")
  }

  @Test func `a narrow terminal shortens the name`() {
    let long = line(String(repeating: "name", count: 30))
    for width in 20...100 {
      let text = long.text(width: width) ?? ""
      #expect(text.hasPrefix("[37/500]") && text.count < width, "\(width): \(text)")
    }
    #expect(line().text(width: 19) == nil)
  }

  @Test(arguments: [(45, "45 s"), (89, "89 s"), (90, "2 min"), (3600, "1 h 0 min")])
  func `times have units that fit`(seconds: Int, text: String) {
    #expect(BatchLine.time(seconds) == text)
  }

  @Test func `the summary counts files, frames and bytes`() {
    var summary = BatchSummary(writes: true)
    for _ in 0..<403 { summary.add(.ok, frames: 8, bytes: 96_000) }
    for _ in 0..<44 { summary.add(.damaged, frames: 1, bytes: 1000) }
    for _ in 0..<53 { summary.add(.unreadable) }
    #expect(
      summary.text()
        == "500 files: 403 ok, 44 damaged, 53 unreadable; 3,268 frames, 38.7 MB")
    #expect(summary.text(skipped: 1200).hasPrefix("1,700 files: 403 ok, "))
    #expect(summary.text(skipped: 1200).contains("53 unreadable, 1,200 not reached; "))
    #expect(!summary.isWhole)
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1000, "-1,000"),
    (-100, "-100"),
  ])
  func `digits are in groups of three`(number: Int, text: String) {
    #expect(number.grouped == text)
  }

  @Test(arguments: [
    (4096, "4,096 pixels"), (67_108_864, "67.1 megapixels"), (2_268_458_520, "2.2 gigapixels"),
  ])
  func `pixels have units that fit`(number: Int, text: String) {
    #expect(number.pixelCount == text)
  }
}
