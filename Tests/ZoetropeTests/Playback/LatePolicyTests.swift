import Testing
import Zoetrope

@Suite(.timeLimit(.minutes(10))) struct LatePolicyTests {
  typealias Shown = MachineRun.Shown

  /// A stall: which frame takes how many milliseconds to decode, and what is shown when.
  struct Row: Sendable, CustomTestStringConvertible {
    var policy: LatePolicy
    var stalls: [Int: Int]
    var shown: [(Int, Int, Int)]
    var testDescription: String { "\(policy) with stalls \(stalls)" }
  }

  /// Eight frames of 100 ms; (frame, moment in ms, frames skipped before it).
  static let table: [Row] = [
    // No stall: nothing differs.
    Row(policy: .skip, stalls: [:], shown: (0..<8).map { ($0, $0 * 100, 0) }),
    Row(policy: .stretch, stalls: [:], shown: (0..<8).map { ($0, $0 * 100, 0) }),
    Row(policy: .catchUp(maximumRate: 2), stalls: [:], shown: (0..<8).map { ($0, $0 * 100, 0) }),
    // Ready before its time: nothing differs.
    Row(policy: .skip, stalls: [2: 99], shown: (0..<8).map { ($0, $0 * 100, 0) }),
    Row(policy: .stretch, stalls: [2: 100], shown: (0..<8).map { ($0, $0 * 100, 0) }),
    // Late by less than a frame: shown late; only stretch moves what follows.
    Row(
      policy: .skip, stalls: [2: 150],
      shown: [(0, 0, 0), (1, 100, 0), (2, 250, 0)] + (3..<8).map { ($0, $0 * 100, 0) }),
    Row(
      policy: .stretch, stalls: [2: 150],
      shown: [(0, 0, 0), (1, 100, 0)] + (2..<8).map { ($0, $0 * 100 + 50, 0) }),
    Row(
      policy: .catchUp(maximumRate: 2), stalls: [2: 150],
      shown: [(0, 0, 0), (1, 100, 0), (2, 250, 0)] + (3..<8).map { ($0, $0 * 100, 0) }),
    // Late by two frames and a half.
    Row(
      policy: .skip, stalls: [2: 350],
      shown: [(0, 0, 0), (1, 100, 0), (4, 450, 2), (5, 500, 0), (6, 600, 0), (7, 700, 0)]),
    Row(
      policy: .stretch, stalls: [2: 350],
      shown: [(0, 0, 0), (1, 100, 0)] + (2..<8).map { ($0, $0 * 100 + 250, 0) }),
    Row(
      policy: .latest, stalls: [2: 350],
      shown: [
        (0, 0, 0), (1, 100, 0), (2, 450, 0), (3, 450, 0), (4, 450, 0), (5, 500, 0), (6, 600, 0),
        (7, 700, 0),
      ]),
    Row(
      policy: .catchUp(maximumRate: 2), stalls: [2: 350],
      shown: [
        (0, 0, 0), (1, 100, 0), (2, 450, 0), (3, 500, 0), (4, 550, 0), (5, 600, 0), (6, 650, 0),
        (7, 700, 0),
      ]),
    Row(
      policy: .catchUp(maximumRate: 1), stalls: [2: 350],
      shown: [(0, 0, 0), (1, 100, 0)] + (2..<8).map { ($0, $0 * 100 + 250, 0) }),
    // Every frame takes two and a half times as long to decode as it is shown; some still appear throughout.
    Row(
      policy: .skip, stalls: [1: 250, 2: 250, 3: 250, 4: 250, 5: 250, 6: 250, 7: 250],
      shown: [(0, 0, 0), (2, 500, 1), (5, 750, 2), (7, 1000, 1)]),
    // The stall outlasts the animation: its last frame is shown.
    Row(policy: .skip, stalls: [2: 5000], shown: [(0, 0, 0), (1, 100, 0), (7, 5100, 5)]),
    // A stall of the first frame delays the start, not the schedule.
    Row(policy: .skip, stalls: [0: 777], shown: (0..<8).map { ($0, $0 * 100 + 777, 0) }),
  ]

  @Test(arguments: table)
  func `late frames are treated as the policy says`(row: Row) throws {
    var run = try MachineRun(
      delays: .tenths(8), options: PlaybackOptions(latePolicy: row.policy))
    run.decodeTimes = row.stalls.mapValues { .milliseconds($0) }
    run.run()
    #expect(
      run.shown == row.shown.map { Shown(frame: $0, at: .milliseconds($1), skipped: $2) })
    #expect(run.machine.state == .finished)
    for (shown, presentation) in zip(run.shown, run.presentations) {
      #expect(presentation.deadline + presentation.lateness == shown.at)
    }
  }

  @Test func `a late frame that shifts the schedule has the deadline it missed`() throws {
    var run = try MachineRun(delays: .tenths(4), options: PlaybackOptions(latePolicy: .stretch))
    run.decodeTimes = [2: .milliseconds(260)]
    run.run()
    #expect(run.presentations.map(\.deadline) == [0, 100, 200, 460].map { .milliseconds($0) })
    #expect(run.presentations.map(\.lateness) == [0, 0, 160, 0].map { .milliseconds($0) })
  }

  @Test func `a stall that is not made up for has the deadline it missed`() throws {
    var run = try MachineRun(
      delays: .tenths(4), options: PlaybackOptions(latePolicy: .catchUp(maximumRate: 2)))
    run.decodeTimes = [2: .seconds(60)]
    run.run(limit: 3)
    #expect(run.presentations.last?.deadline == .milliseconds(200))
    #expect(run.presentations.last?.lateness == .seconds(60) - .milliseconds(100))
  }

  @Test func `a decoder with nothing left to do goes on with the frame that is due`() throws {
    var run = try MachineRun(delays: .tenths(8), options: PlaybackOptions(latePolicy: .latest))
    run.run(limit: 2)
    let action = run.machine.handle(.ready(ahead: .max), at: .milliseconds(650))
    guard case .fetch(let step) = action else {
      Issue.record("\(action)")
      return
    }
    #expect(step.frame == 6)
  }

  @Test func `a stall of many plays is skipped by arithmetic and lands on the frame that is due`()
    throws
  {
    for bounces in [false, true] {
      let options = PlaybackOptions(bounces: bounces)
      var run = try MachineRun(delays: .tenths(5), playCount: .indefinite, options: options)
      run.run(limit: 3)
      run.now += .seconds(100_000)
      run.run(limit: 1)
      var reference = try MachineRun(delays: .tenths(5), playCount: .indefinite, options: options)
      // 100 000 s are whole cycles in both orders (5 and 8 frames), counted from frame 2 at 0.2 s.
      reference.run(limit: 3)
      #expect(run.frames.last == reference.frames.last, "bounces: \(bounces)")
      #expect(run.shown.last?.skipped == 1_000_000 - 1)
    }
  }

  @Test func `frames without duration are skipped on the way back and forth, too`() throws {
    var run = try MachineRun(
      delays: [.part(1, 100), .part(0, 100), .part(0, 100), .part(0, 100)],
      playCount: .indefinite, options: PlaybackOptions(bounces: true, delayPolicy: .exact))
    run.run(limit: 1)
    // Frames 1, 2, 3, 2 and 1 at 10 ms, and frame 0 from then on, are over. Frame 1 is shown at 20 ms again.
    run.now = .milliseconds(25)
    run.run(limit: 1)
    #expect(run.shown.last == Shown(frame: 1, at: .milliseconds(25), skipped: 6))
    #expect(run.presentations.last?.deadline == .milliseconds(20))
  }

  @Test func `the newest decoded frame is preferred to the one that is due`() throws {
    var run = try MachineRun(
      delays: .tenths(8), options: PlaybackOptions(latePolicy: .latest))
    run.run(limit: 2)
    // Frame 2 is decoded, and so is 3, when 4 is due.
    let late = Duration.milliseconds(450)
    let choice = run.machine.handle(.ready(ahead: 1), at: late)
    guard case .fetch(let step) = choice else {
      Issue.record("\(choice)")
      return
    }
    #expect(step.frame == 3)
    let action = run.machine.handle(.ready(ahead: 0), at: late)
    guard case .present(let presentation, _) = action else {
      Issue.record("\(action)")
      return
    }
    #expect(presentation.step.frame == 3)
    #expect(presentation.skipped == 1)
    #expect(presentation.lateness == .milliseconds(150))
  }

  @Test func `a frame that sleeps through its time is skipped too`() throws {
    var run = try MachineRun(delays: .tenths(8))
    run.run(limit: 2)
    // The frame was ready in time, but the whole process stood still.
    #expect(run.machine.handle(.ready(ahead: 0), at: run.now) == .wait(until: .milliseconds(200)))
    let action = run.machine.handle(.due(ahead: 0), at: .milliseconds(530))
    guard case .fetch(let step) = action else {
      Issue.record("\(action)")
      return
    }
    #expect(step.frame == 5)
  }
}
