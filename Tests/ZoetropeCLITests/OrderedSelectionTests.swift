import Testing
import Zoetrope

@testable import ZoetropeCLI

/// Selecting the frames of a stream, one by one.
@Suite(.timeLimit(.minutes(10))) struct OrderedSelectionTests {
  private static let frames = (0..<12).map { index in
    FrameControl(
      index: index, rect: PixelRect(x: 0, y: 0, width: 1, height: 1),
      delay: FrameDelay(numerator: UInt32(index * 3 % 7), denominator: 30))
  }

  @Test(
    arguments: [nil, "0", "3-7", "10-", "::3", "2:9:2", "5,1,1", "20-", "4:2"],
    [nil, "0.2s-", "-0.5s", "300ms", "0.3s-0.6s"])
  func `selecting one by one equals selecting all at once`(frames: String?, time: String?) throws {
    for every in 1...3 {
      for maximum in [1, 2, Int.max] {
        let selection = FrameSelection(
          frames: frames.flatMap { FrameSelector($0) }, time: time.flatMap { TimeRange($0) },
          every: every, maximum: maximum)
        #expect(selection.isDecidedInOrder)
        for policy in [DelayPolicy.browser, .exact] {
          var ordered = OrderedSelection(selection, policy: policy)
          let taken = Self.frames.filter { ordered.takes($0) }.map(\.index)
          #expect(try taken == selection.indices(in: Self.frames, policy: policy))
        }
      }
    }
  }

  @Test(
    arguments: [nil, "0", "3-7", "10-", "::3", "2:9:2", "5,1,1", "20-", "4:2"],
    [nil, "0.2s-", "-0.5s", "300ms", "0.3s-0.6s"])
  func `no frame is selected once nothing more can be`(frames: String?, time: String?) {
    for maximum in [1, 2, Int.max] {
      for policy in [DelayPolicy.browser, .exact] {
        let selection = FrameSelection(
          frames: frames.flatMap { FrameSelector($0) }, time: time.flatMap { TimeRange($0) },
          maximum: maximum)
        var ordered = OrderedSelection(selection, policy: policy)
        var isExhausted = ordered.isExhausted
        for frame in Self.frames {
          let isTaken = ordered.takes(frame)
          #expect(!isTaken || !isExhausted, "frame \(frame.index)")
          isExhausted = ordered.isExhausted
        }
      }
    }
  }

  /// A selection, and the number of frames after which nothing more can be selected; nil for never.
  @Test(
    arguments: [
      ("0", nil, Int.max, 1), ("5,1,1", nil, .max, 6), ("3-7", nil, .max, 8),
      ("2:9:2", nil, .max, 9),
      ("::3", nil, .max, nil), ("::3", nil, 2, 4), ("10-", nil, .max, nil), (nil, nil, 1, 1),
      (nil, nil, .max, nil), (nil, "-0.2s", .max, 2), (nil, "0.1s", .max, 2),
      (nil, "0.2s-", .max, nil), ("0,9", nil, 1, 1),
    ] as [(String?, String?, Int, Int?)])
  func `a selection ends as early as it can`(
    frames: String?, time: String?, maximum: Int, count: Int?
  ) {
    let selection = FrameSelection(
      frames: frames.flatMap { FrameSelector($0) }, time: time.flatMap { TimeRange($0) },
      maximum: maximum)
    // Each frame is shown for 100 ms.
    var ordered = OrderedSelection(selection, policy: .minimum(.milliseconds(100)))
    var found: Int?
    for index in 0..<12 where found == nil {
      _ = ordered.takes(
        FrameControl(
          index: index, rect: PixelRect(x: 0, y: 0, width: 1, height: 1),
          delay: FrameDelay(numerator: 1, denominator: 10)))
      if ordered.isExhausted { found = index + 1 }
    }
    #expect(found == count)
  }

  @Test(arguments: ["-1", "0,-2", "3--1", "-4-", "-2:", ":-1", "::2,-1"])
  func `counting from the end needs the whole file`(text: String) throws {
    let selector = try #require(FrameSelector(text))
    #expect(!FrameSelection(frames: selector).isDecidedInOrder)
  }
}

/// The line about a stream on a terminal.
@Suite(.timeLimit(.minutes(10))) struct StreamLineTests {
  @Test func `the numbers that are known are shown`() {
    func line(_ frames: Int, _ announced: Int?, done: Int?, width: Int = 79) -> String? {
      let progress = StreamProgress(
        byteCount: 1_234_567, frameCount: frames, announcedFrameCount: announced, ending: nil)
      return StreamLine(progress: progress, done: done, hasBlocks: false).text(width: width)
    }
    #expect(line(1, nil, done: nil) == "1 frame  1.2 MB received")
    #expect(line(12, nil, done: 10) == "10/12 frames  1.2 MB received")
    #expect(line(12, nil, done: 10, width: 30) == "10/12 frames")
    #expect(
      line(10, 40, done: 10)
        == String(repeating: "#", count: 10) + String(repeating: " ", count: 30)
        + " 10/10 of 40 frames  1.2 MB received")
    // An announcement that cannot be true.
    #expect(line(12, 3, done: 12) == "12/12 frames  1.2 MB received")
    #expect(line(12, nil, done: 12, width: 10) == nil)
    // Ended before its first frame.
    let empty = StreamProgress(
      byteCount: 60, frameCount: 0, announcedFrameCount: nil, ending: .cancelled)
    #expect(StreamLine(progress: empty, done: nil).text(width: 79) == "0 frames  60 B received")
  }
}
