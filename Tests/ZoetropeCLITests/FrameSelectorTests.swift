import Testing

@testable import ZoetropeCLI

@Suite(.timeLimit(.minutes(10))) struct FrameSelectorTests {
  @Test(arguments: [
    ("0", [0]), ("-1", [9]), ("0,3-5,-1", [0, 3, 4, 5, 9]), ("7-", [7, 8, 9]),
    ("::2", [0, 2, 4, 6, 8]), ("1:4", [1, 2, 3]), ("-3:", [7, 8, 9]), (":2", [0, 1]),
    ("2:9:3", [2, 5, 8]), ("-3--1", [7, 8, 9]), ("5,5,2-3,3", [2, 3, 5]), ("7-7", [7]),
    ("4-100", [4, 5, 6, 7, 8, 9]), ("6--5", []), ("-2-8", [8]), ("6:4", []), ("20-30", []),
    ("100:200", []), ("0-0", [0]),
  ])
  func `text chooses frames of ten`(_ text: String, _ indices: [Int]) throws {
    let selector = try #require(FrameSelector(text))
    #expect(try selector.indices(count: 10) == indices)
  }

  @Test(arguments: [
    "", ",", "a", "1,", "1--", "--1", "1-2-3", "1:2:3:4", "::0", "1.5", " 1", "1 -2", "+1", "٣",
    "12345678901", "1:x", "7-3", "-1--3", "::-1", "8:2:-3",
  ])
  func `other text is refused`(_ text: String) {
    #expect(FrameSelector(text) == nil)
  }

  @Test(arguments: [("10", 10), ("-11", -11)])
  func `a single frame that does not exist is named`(_ text: String, _ number: Int) throws {
    let selector = try #require(FrameSelector(text))
    #expect(throws: FrameSelector.MissingFrame(number: number, count: 10)) {
      try selector.indices(count: 10)
    }
  }
}
