import TestRunning
import Testing
import Zoetrope

@Suite(.timeLimit(.minutes(10)), .computes) struct PlaybackStateMachineTests {
  @Test func `frames are shown at the sums of their delays and the last is held for its own`()
    throws
  {
    var run = try MachineRun(delays: [.part(10, 100), .part(1, 4), .part(3, 50)])
    run.run()
    #expect(run.frames == [0, 1, 2])
    #expect(run.times == [.zero, .milliseconds(100), .milliseconds(350)])
    #expect(run.now == .milliseconds(410))
    #expect(run.machine.state == .finished)
    #expect(run.presentations.map(\.isLast) == [false, false, true])
    #expect(
      run.presentations.map(\.duration) == [
        .milliseconds(100), .milliseconds(250), .milliseconds(60),
      ])
  }

  @Test func `three thirds of a second are one second`() throws {
    var run = try MachineRun(
      delays: [.part(1, 3), .part(1, 3), .part(1, 3)], playCount: .finite(2))
    run.run()
    #expect(run.times[3] == .seconds(1))
    #expect(run.now == .seconds(2))
  }

  @Test(arguments: [
    FrameDelay.part(1, 3), .part(1001, 30000), .part(1, 65535),
  ])
  func `thirty thousand frames drift by nothing`(delay: FrameDelay) throws {
    let frames = 100
    var run = try MachineRun(
      delays: Array(repeating: delay, count: frames), playCount: .finite(300),
      options: PlaybackOptions(delayPolicy: .exact))
    var count = 0
    var worst = Duration.zero
    var action = run.machine.handle(.begin, at: .zero)
    var now = Duration.zero
    loop: while true {
      switch action {
      case .fetch: action = run.machine.handle(.ready(ahead: 0), at: now)
      case .wait(let moment):
        now = moment
        action = run.machine.handle(.due(ahead: 0), at: now)
      case .present(let presentation, let next):
        worst = max(worst, presentation.lateness)
        count += 1
        action = next
      default: break loop
      }
    }
    #expect(worst == .zero)
    #expect(count == 30_000)
    let numerator = 30_000 * Int64(delay.numerator)
    let (seconds, rest) = numerator.quotientAndRemainder(dividingBy: Int64(delay.denominator))
    let attoseconds = Int128(rest) * 1_000_000_000_000_000_000 / Int128(delay.denominator)
    #expect(
      now == Duration(secondsComponent: seconds, attosecondsComponent: Int64(attoseconds)))
  }

  @Test func `a timer that always wakes late moves no deadline under any policy`() throws {
    for policy in [LatePolicy.skip, .stretch, .latest, .catchUp(maximumRate: 2)] {
      var run = try MachineRun(
        delays: .tenths(10), playCount: .finite(100),
        options: PlaybackOptions(latePolicy: policy))
      run.overshoot = .microseconds(180)
      run.run()
      #expect(run.presentations.last?.deadline == .milliseconds(99_900), "\(policy)")
      #expect(run.presentations.count == 1000, "\(policy)")
      #expect(run.presentations.dropFirst().allSatisfy { $0.lateness == .microseconds(180) })
    }
  }

  @Test(arguments: [
    (PlayCount.once, 1), (.finite(3), 3),
  ])
  func `the play count is the number of plays in all`(count: PlayCount, plays: Int) throws {
    var run = try MachineRun(delays: .tenths(4), playCount: count)
    run.run()
    #expect(run.frames == Array((0..<plays).map { _ in [0, 1, 2, 3] }.joined()))
    #expect(run.presentations.last?.step.play == plays - 1)
  }

  @Test func `an indefinite animation goes on`() throws {
    var run = try MachineRun(delays: .tenths(2), playCount: .indefinite)
    run.run(limit: 1001)
    #expect(run.frames.last == 0)
    #expect(run.now == .seconds(100))
    #expect(run.machine.state == .playing)
  }

  @Test(arguments: [
    (PlaybackOptions(startIndex: 2), [2, 3, 0, 1, 2, 3]),
    (PlaybackOptions(direction: .backward), [3, 2, 1, 0, 3, 2, 1, 0]),
    (PlaybackOptions(direction: .backward, startIndex: 1), [1, 0, 3, 2, 1, 0]),
    (PlaybackOptions(bounces: true), [0, 1, 2, 3, 2, 1, 0]),
    (
      PlaybackOptions(playCount: .finite(4), bounces: true),
      [0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0]
    ),
    (PlaybackOptions(direction: .backward, bounces: true), [3, 2, 1, 0, 1, 2, 3]),
    (PlaybackOptions(range: 1..<3), [1, 2, 1, 2]),
    (PlaybackOptions(direction: .backward, range: 1..<4), [3, 2, 1, 3, 2, 1]),
    (PlaybackOptions(range: 1..<2), [1]),
    (PlaybackOptions(playCount: .once), [0, 1, 2, 3]),
    (PlaybackOptions(startIndex: 2, reducesMotion: true), [2]),
    (PlaybackOptions(reducesMotion: true, posterIndex: 3), [3]),
  ])
  func `options choose the order of frames`(options: PlaybackOptions, frames: [Int]) throws {
    var run = try MachineRun(delays: .tenths(4), playCount: .finite(2), options: options)
    run.run()
    #expect(run.frames == frames)
    #expect(run.machine.state == .finished)
    #expect(run.times == frames.indices.map { .milliseconds(100 * $0) })
  }

  @Test(arguments: [
    (PlaybackOptions(), 1000), (PlaybackOptions(rate: 2), 500),
    (PlaybackOptions(rate: 0.1), 10_000),
    (PlaybackOptions(rate: 1.25), 800), (PlaybackOptions(fixedDelay: .milliseconds(7)), 70),
    (PlaybackOptions(fixedDelay: .zero), 0),
    (PlaybackOptions(rate: 0.5, fixedDelay: .milliseconds(7)), 140),
  ])
  func `rate and fixed delay choose how long a play lasts`(options: PlaybackOptions, end: Int)
    throws
  {
    var run = try MachineRun(delays: .tenths(10), options: options)
    run.run()
    #expect(run.now == .milliseconds(end))
    #expect(run.frames.count == 10)
  }

  @Test(arguments: [
    (DelayPolicy.browser, [100, 100, 20, 20]), (.exact, [0, 10, 20, 20]),
    (.ffmpeg, [100, 100, 20, 20]), (.imageIO, [100, 100, 20, 20]),
    (.minimum(.milliseconds(30)), [30, 30, 30, 30]),
  ])
  func `delay policies choose the shown time`(policy: DelayPolicy, times: [Int]) throws {
    var run = try MachineRun(
      delays: [.part(0, 100), .part(1, 100), .part(2, 100), .part(1, 50)],
      options: PlaybackOptions(delayPolicy: policy))
    run.run()
    #expect(run.presentations.map(\.duration) == times.map { .milliseconds($0) })
  }

  @Test(arguments: [
    PlaybackOptions(startIndex: 4), PlaybackOptions(startIndex: -1), PlaybackOptions(range: 2..<9),
    PlaybackOptions(range: 2..<2), PlaybackOptions(startIndex: 0, range: 1..<3),
    PlaybackOptions(playCount: .finite(0)), PlaybackOptions(fixedDelay: .milliseconds(-1)),
    PlaybackOptions(reducesMotion: true, posterIndex: 4),
  ])
  func `options that make no sense are a parameter error`(options: PlaybackOptions) {
    let error = #expect(throws: AnimatedImageError.self) {
      _ = try MachineRun(delays: .tenths(4), options: options)
    }
    #expect(error?.code == .parameter)
  }

  @Test func `frames without duration are all shown and take no time`() throws {
    var run = try MachineRun(
      delays: [.part(0, 100), .part(0, 100), .part(5, 100), .part(0, 100)],
      playCount: .finite(2), options: PlaybackOptions(delayPolicy: .exact))
    run.overshoot = .microseconds(100)
    run.run()
    #expect(run.frames == [0, 1, 2, 3, 0, 1, 2, 3])
    #expect(run.presentations.map(\.skipped).allSatisfy { $0 == 0 })
  }

  @Test func `an endless animation without any duration neither hangs nor skips`() throws {
    var run = try MachineRun(
      delays: [.part(0, 100), .part(0, 100)], playCount: .indefinite,
      options: PlaybackOptions(delayPolicy: .exact))
    run.decodeTimes = [1: .milliseconds(3)]
    run.run(limit: 1000)
    #expect(run.presentations.count == 1000)
    #expect(run.presentations.allSatisfy { $0.skipped == 0 })
  }
}
