import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeWriting

@Suite("The timeline of edits")
struct EditTimelineTests {
  private func timeline(
    _ delays: [FrameDelay], policy: DelayPolicy = .browser
  ) -> EditTimeline {
    EditTimeline(
      delays.enumerated().map { FrameControl(index: $0, rect: .empty, delay: $1) },
      canvas: PixelSize(width: 40, height: 30), playCount: .indefinite, policy: policy)
  }

  private func centiseconds(_ delays: UInt16...) -> EditTimeline {
    timeline(delays.map { FrameDelay(centiseconds: $0) })
  }

  /// Each showing as `frame:ticks/timescale`, or with its stored delay.
  private func text(_ timeline: EditTimeline) -> [String] {
    timeline.showings.map {
      let divisor = max(greatestCommonDivisor(timeline.timescale, $0.ticks), 1)
      return "\($0.frame):"
        + ($0.stored.map { "\($0.numerator)/\($0.denominator)" }
          ?? "=\($0.ticks / divisor)/\(timeline.timescale / divisor)")
    }
  }

  private func edited(_ timeline: EditTimeline, _ edits: AnimationEdit...) throws -> [String] {
    var timeline = timeline
    for edit in edits { try timeline.apply(edit) }
    return text(timeline)
  }

  @Test("Without edits all delays are as stored")
  func none() throws {
    #expect(try edited(centiseconds(0, 1, 10)) == ["0:0/100", "1:1/100", "2:10/100"])
  }

  @Test("A cut by frames keeps their delays")
  func frames() throws {
    #expect(try edited(centiseconds(5, 6, 7, 8), .frames(1..<3)) == ["1:6/100", "2:7/100"])
    #expect(try edited(centiseconds(5, 6, 7), .frames(1..<3), .frames(1..<2)) == ["2:7/100"])
  }

  @Test("A cut inside a frame's time shortens its delay")
  func time() throws {
    let source = centiseconds(10, 20, 30)
    #expect(
      try edited(source, .time(.milliseconds(150)..<(.milliseconds(400))))
        == ["1:=3/20", "2:=1/10"])
    #expect(
      try edited(source, .time(.milliseconds(100)..<(.seconds(99)))) == ["1:20/100", "2:30/100"])
  }

  @Test("A cut between frames at a time of many digits is exact")
  func fineTime() throws {
    let thirds = timeline(
      [FrameDelay](repeating: FrameDelay(numerator: 1, denominator: 3), count: 3))
    #expect(
      try edited(thirds, .time(.milliseconds(500)..<(.seconds(1)))) == ["1:=1/6", "2:1/3"])
  }

  @Test(arguments: [3, 7, 24, 128, 1001] as [UInt32])
  func `a cut at times rounded to microseconds leaves no slivers`(perSecond: UInt32) throws {
    let source = timeline(
      [FrameDelay](repeating: FrameDelay(numerator: 1, denominator: perSecond), count: 8),
      policy: .exact)
    func printed(_ index: Int64) -> Duration {
      .microseconds((2_000_000 * index + Int64(perSecond)) / (2 * Int64(perSecond)))
    }
    for first in Int64(0)..<8 {
      for last in first + 1...8 {
        #expect(
          try edited(source, .time(printed(first)..<printed(last)))
            == (first..<last).map { "\($0):1/\(perSecond)" })
      }
    }
  }

  @Test func `a cut a microsecond from a boundary is made where it is`() throws {
    let source = centiseconds(10, 20)
    #expect(
      try edited(source, .time(.microseconds(99_999)..<(.microseconds(200_001))))
        == ["0:=1/1000000", "1:=100001/1000000"])
    // The nearest of several boundaries is meant.
    let brief = timeline(
      [FrameDelay](repeating: FrameDelay(numerator: 3, denominator: 10_000_000), count: 4),
      policy: .exact)
    #expect(
      try edited(brief, .time(.nanoseconds(300)..<(.nanoseconds(900))))
        == ["1:3/10000000", "2:3/10000000"])
  }

  @Test("Delays that browsers replace count as what browsers show")
  func browserDelays() throws {
    #expect(try edited(centiseconds(0, 1), .speed(2)) == ["0:=1/20", "1:=1/20"])
    #expect(
      try edited(
        timeline([FrameDelay(centiseconds: 1)], policy: .exact), .speed(2)) == ["0:=1/200"])
  }

  @Test("A speed divides delays exactly, and speed one changes nothing")
  func speed() throws {
    #expect(try edited(centiseconds(10, 5), .speed(3)) == ["0:=1/30", "1:=1/60"])
    #expect(try edited(centiseconds(10, 5), .speed(1)) == ["0:10/100", "1:5/100"])
    #expect(try edited(centiseconds(10), .speed(2), .speed(0.5)) == ["0:=1/10"])
  }

  @Test("A duration is met exactly")
  func duration() throws {
    let source = centiseconds(10, 20, 40)
    #expect(try edited(source, .duration(.seconds(1))) == ["0:=1/7", "1:=2/7", "2:=4/7"])
    #expect(
      try edited(source, .duration(.milliseconds(700))) == ["0:10/100", "1:20/100", "2:40/100"])
  }

  @Test("Fewer frames per second keep the total, and more change nothing")
  func framesPerSecond() throws {
    let source = centiseconds(5, 5, 5, 5, 5)
    #expect(try edited(source, .framesPerSecond(10)) == ["0:=1/10", "2:=1/10", "4:5/100"])
    #expect(try edited(source, .framesPerSecond(60)) == text(source))
    #expect(try edited(source, .framesPerSecond(1)) == ["0:=1/4"])
  }

  @Test(arguments: [(3, 100), (1001, 30000), (1, 3), (300, 1), (1, 1000)] as [(UInt32, UInt32)])
  func `the frame rate of the source keeps all delays`(above: UInt32, below: UInt32) throws {
    let source = timeline(
      [FrameDelay](repeating: FrameDelay(numerator: above, denominator: below), count: 40),
      policy: .exact)
    let rate = Double(below) / Double(above)
    #expect(try edited(source, .framesPerSecond(rate)) == text(source))
    let lower = try edited(source, .framesPerSecond((rate * 1_000_000).rounded() / 1e6 - 2e-6))
    #expect(lower != text(source))
  }

  @Test func `a frame rate needs a duration, unless there is only one frame`() throws {
    let zero = AnimationEdit.delay(FrameDelay(centiseconds: 0))
    let error = #expect(throws: AnimatedImageError.self) {
      try edited(centiseconds(5, 5), zero, .framesPerSecond(20))
    }
    #expect(error?.code == .parameter)
    #expect(try edited(centiseconds(5), zero, .framesPerSecond(20)) == ["0:0/100"])
  }

  @Test("Back and forth shows the ends once")
  func backAndForth() throws {
    #expect(
      try edited(centiseconds(1, 2, 3, 4), .backAndForth).map { $0.prefix(1) }
        == ["0", "1", "2", "3", "2", "1"])
    #expect(try edited(centiseconds(1, 2), .backAndForth) == ["0:1/100", "1:2/100"])
    #expect(try edited(centiseconds(1, 2, 3), .reverse) == ["2:3/100", "1:2/100", "0:1/100"])
  }

  @Test("Edits apply in order")
  func order() throws {
    let source = centiseconds(10, 10, 10, 10)
    #expect(
      try edited(source, .reverse, .frames(0..<1), .delay(FrameDelay(centiseconds: 7)))
        == ["3:7/100"])
    #expect(
      try edited(source, .speed(2), .time(.zero..<(.milliseconds(75)))) == ["0:=1/20", "1:=1/40"])
  }

  @Test("Crops add up, and are clipped to the canvas")
  func crop() throws {
    var source = centiseconds(1)
    try source.apply(.crop(PixelRect(x: 10, y: 5, width: 100, height: 10)))
    #expect(source.canvas == PixelRect(x: 10, y: 5, width: 30, height: 10))
    try source.apply(.crop(PixelRect(x: 1, y: 2, width: 3, height: 4)))
    #expect(source.canvas == PixelRect(x: 11, y: 7, width: 3, height: 4))
  }

  @Test(
    "An edit that leaves nothing is refused",
    arguments: [
      .frames(1..<1), .frames(0..<9), .frames(-1..<1), .time(.seconds(9)..<(.seconds(10))),
      .speed(0), .speed(.nan), .duration(.zero), .framesPerSecond(0), .playCount(.finite(0)),
      .crop(PixelRect(x: 40, y: 0, width: 5, height: 5)), .delays([]),
      .resize(TargetSize(width: 0, height: 5)), .resize(TargetSize(width: -3)),
      .resize(TargetSize(height: .min)), .resize(TargetSize(scale: 0)),
      .resize(TargetSize(scale: -1)), .resize(TargetSize(scale: .nan)),
      .resize(TargetSize(scale: .infinity)),
    ] as [AnimationEdit])
  func refusals(_ edit: AnimationEdit) {
    #expect(throws: AnimatedImageError.self) { try edited(centiseconds(10, 10), edit) }
  }

  @Test("Delays that cannot be summed exactly do not drift")
  func crafted() throws {
    let delays = (0..<2000).map {
      FrameDelay(numerator: 65_521, denominator: UInt32(65_535 - $0 % 700))
    }
    var source = timeline(delays)
    let before = Double(source.ticks) / Double(source.timescale)
    for factor in [1.000_001, 0.999_983, 1.371_131, 0.729_317] { try source.apply(.speed(factor)) }
    let after = Double(source.ticks) / Double(source.timescale)
    #expect(abs(after * 1.000_001 * 0.999_983 * 1.371_131 * 0.729_317 - before) < 1e-6)
    try source.apply(.duration(.seconds(7)))
    #expect(source.ticks == 7 * source.timescale)
  }

  @Test("Sixty frames per second make a GIF of fifty at most, and the total stays")
  func shortDelays() throws {
    var source = timeline(
      [FrameDelay](repeating: FrameDelay(numerator: 1, denominator: 30), count: 60))
    try source.apply(.speed(2))
    let delays = try EditDelays.centiseconds(source, .merge)
    #expect(delays.kept.allSatisfy { $0.delay.numerator >= 2 })
    #expect(delays.kept.reduce(0) { $0 + $1.delay.numerator } == 100)
    #expect(delays.mergedCount == 60 - delays.kept.count)
    let exact = try EditDelays.centiseconds(source, .keep)
    #expect(exact.kept.count == 60 && exact.mergedCount == 0)
    #expect(exact.kept.reduce(0) { $0 + $1.delay.numerator } == 100)
  }

  /// Each frame that an APNG stores, as `frame:numerator/denominator`.
  private func fractions(_ delays: EditDelays) -> [String] {
    delays.kept.map { "\($0.frame):\($0.delay.numerator)/\($0.delay.denominator)" }
  }

  @Test func `frames that edits make too short for browsers are merged in an APNG`() throws {
    var source = centiseconds(2, 2, 2, 6, 2)
    try source.apply(.speed(4))
    let delays = try EditDelays.fractions(source, .merge)
    // 5, 5, 5, 15 and 5 ms.
    #expect(fractions(delays) == ["0:3/200", "3:1/50"])
    #expect(delays.mergedCount == 3 && delays.isExact && delays.keepsDuration)
    let exact = try EditDelays.fractions(source, .keep)
    #expect(fractions(exact) == ["0:1/200", "1:1/200", "2:1/200", "3:3/200", "4:1/200"])
    #expect(exact.mergedCount == 0 && exact.isExact)
  }

  @Test func `the rest of a frame that is cut off an APNG is added to its neighbour`() throws {
    for (range, kept) in [
      (0..<203, ["0:1/10", "1:103/1000"]), (97..<300, ["1:103/1000", "2:1/10"]),
      (97..<203, ["1:53/500"]), (0..<111, ["0:1/10", "1:11/1000"]),
    ] {
      var source = centiseconds(10, 10, 10)
      try source.apply(
        .time(.milliseconds(range.lowerBound)..<(.milliseconds(range.upperBound))))
      let delays = try EditDelays.fractions(source, .merge)
      #expect(fractions(delays).map { $0.replacing("10/100", with: "1/10") } == kept, "\(range)")
      #expect(delays.isExact && delays.keepsDuration)
    }
  }

  @Test func `an APNG keeps the short delays of its source, and those of 0`() throws {
    let source = timeline([0, 1, 1, 10].map { FrameDelay(centiseconds: $0) })
    #expect(
      try fractions(.fractions(source, .merge)) == ["0:0/100", "1:1/100", "2:1/100", "3:10/100"])
    var still = timeline([FrameDelay(centiseconds: 0), FrameDelay(centiseconds: 5)])
    still.set([FrameDelay(centiseconds: 0), FrameDelay(centiseconds: 0)])
    #expect(try fractions(.fractions(still, .merge)) == ["0:0/100", "1:0/100"])
    // With no other frame to add its time to, a frame is lengthened.
    var alone = centiseconds(10)
    try alone.apply(.duration(.milliseconds(3)))
    let delays = try EditDelays.fractions(alone, .merge)
    #expect(fractions(delays) == ["0:11/1000"] && !delays.isExact && !delays.keepsDuration)
  }

  @Test func `delays that fit do not restart the rounding of the others`() throws {
    // 20, 27, 34 ... 293 ms: every tenth is a whole number of centiseconds.
    let delays = (0..<40).map { FrameDelay(numerator: UInt32(20 + 7 * $0), denominator: 1000) }
    var delaysAndFits = delays
    for place in delays.indices where delays[place].numerator % 10 == 0 {
      delaysAndFits[place] = FrameDelay(
        numerator: delays[place].numerator / 10, denominator: 100)
    }
    for delays in [delays, delaysAndFits] {
      let source = EditTimeline(
        delays.map { FrameControl(index: 0, rect: .empty, delay: $0) },
        canvas: PixelSize(width: 1, height: 1), playCount: .once, policy: .exact)
      let stored = try EditDelays.centiseconds(source, .merge)
      #expect(stored.kept.reduce(0) { $0 + $1.delay.numerator } == 626)
      #expect(stored.keepsDuration && !stored.isExact)
    }
  }

  @Test func `frames that are lengthened do not shorten or drop those after them`() throws {
    // Each frame of 10 ms stands alone between two that are kept, and is lengthened to 20 ms.
    var delays: [FrameDelay] = []
    for _ in 0..<50 {
      delays += [
        FrameDelay(numerator: 10, denominator: 100), FrameDelay(numerator: 10, denominator: 1000),
      ]
    }
    // Alone between kept frames, and in a row.
    let kept = FrameDelay(numerator: 10, denominator: 100)
    for _ in 0..<50 { delays += [kept, FrameDelay(numerator: 36, denominator: 1000)] }
    delays.append(kept)
    delays += Array(repeating: FrameDelay(numerator: 33, denominator: 1000), count: 20)
    let source = EditTimeline(
      delays.map { FrameControl(index: 0, rect: .empty, delay: $0) },
      canvas: PixelSize(width: 1, height: 1), playCount: .once, policy: .exact)
    let stored = try EditDelays.centiseconds(source, .merge)
    let tail = stored.kept.suffix(20).reduce(0) { $0 + $1.delay.numerator }
    #expect(stored.kept.count == delays.count && stored.mergedCount == 0)
    #expect((65...66).contains(tail) && !stored.keepsDuration)
    let alone = stored.kept[100..<200].reduce(0) { $0 + $1.delay.numerator }
    #expect(alone == 500 + 180)
  }

  @Test func `an animation that is too short for its format is lengthened, and says so`() throws {
    func delays(_ milliseconds: [UInt32]) throws -> EditDelays {
      let source = EditTimeline(
        milliseconds.map {
          FrameControl(
            index: 0, rect: .empty, delay: FrameDelay(numerator: $0, denominator: 1000))
        }, canvas: PixelSize(width: 1, height: 1), playCount: .once, policy: .exact)
      return try .centiseconds(source, .merge)
    }
    #expect(try !delays([4]).keepsDuration)
    #expect(try delays([4, 4, 4, 4]).keepsDuration)
    #expect(try delays([33]).keepsDuration && !delays([33]).isExact)
  }

  @Test("A delay of zero stays one in a GIF, whatever its unit", arguments: [UInt32(1), 100, 1000])
  func zeroDelays(_ denominator: UInt32) throws {
    let zero = FrameDelay(numerator: 0, denominator: denominator)
    let delays = try EditDelays.centiseconds(
      timeline([FrameDelay(centiseconds: 7), zero, zero]), .merge)
    #expect(delays.kept.map(\.delay) == [7, 0, 0].map { FrameDelay(centiseconds: $0) })
    #expect(delays.isExact && delays.mergedCount == 0)
  }

  @Test("A delay too long for one frame makes several")
  func longDelays() throws {
    var source = centiseconds(60_000)
    try source.apply(.speed(0.5))
    let delays = try EditDelays.centiseconds(source, .merge)
    #expect(delays.kept.map(\.frame) == [0, 0])
    #expect(delays.kept.reduce(0) { $0 + Int($1.delay.numerator) } == 120_000)
  }

  // MARK: Limits

  private func refusal(of edits: [AnimationEdit], _ timeline: EditTimeline) -> LimitExcess? {
    var timeline = timeline
    do {
      for edit in edits { try timeline.apply(edit) }
      return nil
    } catch {
      #expect(error.code == .limitExceeded)
      return error.limit
    }
  }

  @Test("A chain of slower speeds ends at a limit")
  func slowSpeeds() {
    let limit = refusal(
      of: [AnimationEdit](repeating: .speed(0.001), count: 14), centiseconds(10, 20))
    #expect(limit?.kind == .editedDuration)
    #expect(limit?.found == 300_000_000_000 && limit?.allowed == 1_000_000_000)
  }

  @Test("A chain of back and forth ends at a limit")
  func manyShowings() {
    let limit = refusal(
      of: [AnimationEdit](repeating: .backAndForth, count: 40), centiseconds(5, 6, 7))
    #expect(limit?.kind == .editedFrames && limit?.allowed == 1 << 18)
    let frames = [Int](repeating: 0, count: 1 << 18)
    #expect(refusal(of: [.frames(at: frames)], centiseconds(5)) == nil)
    #expect(refusal(of: [.frames(at: frames + [0])], centiseconds(5))?.found == 1 << 18 + 1)
  }

  @Test("A source with more frames than an edit may make can be edited")
  func longSource() {
    let source = timeline(
      [FrameDelay](repeating: FrameDelay(centiseconds: 5), count: 1 << 18 + 1))
    #expect(refusal(of: [.reverse, .speed(2)], source) == nil)
    #expect(refusal(of: [.backAndForth], source)?.allowed == 1 << 18 + 1)
  }

  @Test("Long delays are limited by the frames they take, which depends on the format")
  func longStoredDelays() throws {
    var source = centiseconds(10, 20)
    try source.apply(.duration(.seconds(1_000_000_000)))
    let error = #expect(throws: AnimatedImageError.self) {
      try EditDelays.centiseconds(source, .merge)
    }
    #expect(error?.code == .limitExceeded && error?.limit?.kind == .editedFrames)
    #expect(try EditDelays.fractions(source, .merge).kept.count == 15_260)
    #expect(refusal(of: [.duration(.seconds(1_000_000_001))], source)?.kind == .editedDuration)
  }

  @Test("No chain of edits traps, whatever its numbers")
  func chains() {
    var random = SplitMix64(seed: 11)
    func time() -> Duration {
      let seconds: Int64? = [0, 1, 65_535, 999_999_999, 9_000_000_000].randomElement(using: &random)
      return Duration(
        secondsComponent: seconds ?? 0,
        attosecondsComponent: [0, 1, 999_999_999_999_999_999, 333_333_333_333_333_333]
          .randomElement(using: &random) ?? 0)
    }
    let rates = [0.001, 1000, 1.000_001, 999.999_999, 0.729_317]
    let sources = [
      centiseconds(10, 20, 30),
      timeline(
        (0..<800).map { FrameDelay(numerator: 65_535, denominator: UInt32(65_535 - $0 % 3)) }),
      timeline([FrameDelay](repeating: FrameDelay(numerator: .max, denominator: 1), count: 100)),
      timeline(
        [FrameDelay](repeating: FrameDelay(numerator: 65_535, denominator: 1), count: 2000)
          + [1, 3, 7, 1 << 16 - 15].map { FrameDelay(numerator: 1, denominator: $0) }),
    ]
    var refused = 0
    for round in 0..<200 {
      var timeline = sources[round % sources.count]
      for _ in 0..<6 {
        let edit: AnimationEdit =
          switch Int.random(in: 0..<7, using: &random) {
          case 0: .speed(rates.randomElement(using: &random) ?? 1)
          case 1: .framesPerSecond(rates.randomElement(using: &random) ?? 1)
          case 2: .duration(time())
          case 3: .backAndForth
          case 4: .frames(0..<max(1, timeline.showings.count / 2))
          case 5: .delay(FrameDelay(numerator: .max, denominator: .max - 4))
          default:
            { (first: Duration, last: Duration) in .time(min(first, last)..<max(first, last)) }(
              time(), time())
          }
        do {
          try timeline.apply(edit)
          #expect(timeline.ticks <= 1_000_000_000 * timeline.timescale)
        } catch {
          refused += 1
        }
      }
    }
    #expect(refused > 50)
  }
}
