import Testing

@testable import ZoetropeCLI

@Suite(.timeLimit(.minutes(1))) struct FrameSelectorTests {
  @Test(arguments: [
    ("1", [0]), ("-1", [9]), ("1,4-6,-1", [0, 3, 4, 5, 9]), ("8-", [7, 8, 9]), ("10", [9]),
    ("::2", [0, 2, 4, 6, 8]), ("2:5", [1, 2, 3]), ("-3:", [7, 8, 9]), (":3", [0, 1]),
    ("3:10:3", [2, 5, 8]), ("-3--1", [7, 8, 9]), ("6,6,3-4,4", [2, 3, 5]), ("8-8", [7]),
    ("5-100", [4, 5, 6, 7, 8, 9]), ("7--5", []), ("-2-9", [8]), ("7:5", []), ("20-30", []),
    ("100:200", []), ("1-1", [0]),
  ])
  func `text chooses frames of ten`(_ text: String, _ indices: [Int]) throws {
    let selector = try #require(FrameSelector(text))
    #expect(try selector.indices(count: 10) == indices)
  }

  @Test(arguments: [
    "", ",", "a", "1,", "1--", "--1", "1-2-3", "1:2:3:4", "::0", "1.5", " 1", "1 -2", "+1", "٣",
    "12345678901", "1:x", "7-3", "-1--3", "::-1", "8:2:-3", "0", "0-3", "1,0", "0:2", ":0", "-0",
  ])
  func `other text is refused`(_ text: String) {
    #expect(FrameSelector(text) == nil)
  }

  @Test(arguments: ["11", "-11"])
  func `a single frame that does not exist is named as it was asked for`(_ text: String) throws {
    let selector = try #require(FrameSelector(text))
    do {
      _ = try selector.indices(count: 10)
      Issue.record("frame \(text) was found")
    } catch {
      #expect(error.message == "there is no frame \(text), the frames are 1 to 10")
    }
  }
}
