import ArgumentParser
import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCLI

@Suite(.timeLimit(.minutes(10)), .computes) struct TimeRangeTests {
  private static let ranges: [(String, Duration, Duration?)] = [
    ("1.5s-3s", .milliseconds(1500), .seconds(3)), ("500ms-", .milliseconds(500), nil),
    ("-2", .zero, .seconds(2)), ("2s", .seconds(2), .seconds(2)),
    ("0.25ms-1", .microseconds(250), .seconds(1)),
    ("45874500000ms-", .seconds(45_874_500), nil),
    ("-999999999999ms", .zero, .milliseconds(999_999_999_999)),
  ]

  @Test(arguments: ranges)
  func `text gives start and end`(_ item: (text: String, start: Duration, end: Duration?)) throws {
    let range = try #require(TimeRange(item.text))
    #expect(range.start == item.start)
    #expect(range.end == item.end)
  }

  @Test(arguments: [
    "", "-", "s", "1-2-3", "3s-1s", "1m", "1..5", "-1s-2s", "1s-1s", "1e3", "9999999999",
    "1000000000000ms",
    "0.0000001s", "0.0009ms-", "-0.00000099", "0.000000001-1s",
  ])
  func `other text is refused`(_ text: String) {
    #expect(TimeRange(text) == nil)
  }

  @Test func `a time is rounded down to a microsecond, but not to nothing`() {
    for (text, time) in [
      ("0.0000019s", Duration.microseconds(1)), ("0.001ms", .microseconds(1)),
      ("1.00000099s", .seconds(1)), ("0.000000s", .zero), (".0ms", .zero),
    ] {
      #expect(TimeArgument(text)?.time == time, "\(text)")
    }
    for text in ["0.0000001s", "0.0009ms", "0.000000999"] {
      #expect(TimeArgument(text) == nil && DelayArgument(text) == nil, "\(text)")
    }
    // A fraction is exact, and a delay of 0 needs no unit.
    #expect(DelayArgument("1/10000000")?.delay == FrameDelay(numerator: 1, denominator: 10_000_000))
    #expect(DelayArgument("0.0000000")?.delay.numerator == 0)
  }

  private static let refusals: [(text: String, reason: String)] = [
    ("3s-1s", "the range ends before it starts"), ("1s-1000ms", "the range is empty"),
    ("1s-2s-3s", "give a range such as"),
  ]

  @Test(arguments: refusals)
  func `a refusal says why`(_ refusal: (text: String, reason: String)) {
    let expected = "'\(refusal.text)' is invalid for '--time <time>': \(refusal.reason)"
    for command in ["convert", "extract"] {
      do {
        _ = try ZoetropeCommand.parseAsRoot([command, "a.gif", "-o", "b", "--time", refusal.text])
        Issue.record("accepted")
      } catch {
        let message: String = ZoetropeCommand.fullMessage(for: error)
        #expect(message.contains(expected))
      }
    }
  }

  @Test(arguments: [12, 24, 30, 7, 100])
  func `the printed start of a frame selects that frame`(perSecond: Int) throws {
    let frames = (0..<3 * perSecond).map { index in
      FrameControl(
        index: index, rect: PixelRect(x: 0, y: 0, width: 1, height: 1),
        delay: FrameDelay(numerator: 1, denominator: UInt32(perSecond)))
    }
    let starts = frames.starts(.exact)
    #expect(frames.duration(.exact) == Decimal(thousandths: 3_000_000))
    for (index, start) in starts.enumerated() {
      var selection = FrameSelection(time: TimeRange("\(start)ms"))
      #expect(try selection.indices(in: frames, policy: .exact) == [index])
      guard index > 0 else { continue }
      // The end of a range is not part of it.
      selection.time = TimeRange("\(starts[index - 1])ms-\(start)ms")
      #expect(try selection.indices(in: frames, policy: .exact) == [index - 1])
    }
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
