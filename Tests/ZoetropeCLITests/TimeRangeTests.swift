import Testing

@testable import ZoetropeCLI

@Suite(.timeLimit(.minutes(1))) struct TimeRangeTests {
  private static let ranges: [(String, Duration, Duration?)] = [
    ("1.5s-3s", .milliseconds(1500), .seconds(3)), ("500ms-", .milliseconds(500), nil),
    ("-2", .zero, .seconds(2)), ("2s", .seconds(2), .seconds(2)),
    ("0.25ms-1", .microseconds(250), .seconds(1)),
  ]

  @Test(arguments: ranges)
  func `text gives start and end`(_ item: (text: String, start: Duration, end: Duration?)) throws {
    let range = try #require(TimeRange(item.text))
    #expect(range.start == item.start)
    #expect(range.end == item.end)
  }

  @Test(arguments: [
    "", "-", "s", "1-2-3", "3s-1s", "1m", "1..5", "-1s-2s", "1s-1s", "1e3", "9999999999",
  ])
  func `other text is refused`(_ text: String) {
    #expect(TimeRange(text) == nil)
  }

  @Test func `a frame belongs to a range while it is on screen`() throws {
    let range = try #require(TimeRange("1s-2s"))
    #expect(range.overlaps(from: .seconds(0), to: .milliseconds(1001)))
    #expect(!range.overlaps(from: .seconds(0), to: .seconds(1)))
    #expect(!range.overlaps(from: .seconds(2), to: .seconds(3)))
    #expect(range.overlaps(from: .seconds(1), to: .seconds(1)))
    let moment = try #require(TimeRange("1s"))
    #expect(moment.overlaps(from: .seconds(1), to: .seconds(2)))
    #expect(!moment.overlaps(from: .seconds(0), to: .seconds(1)))
  }
}
