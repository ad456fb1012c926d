import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct PlaybackTraceTests {
  /// A playback with a stall of frame 2 and a process that stood still before frame 5.
  private func recordedTrace() async throws -> PlaybackTrace {
    let clock = ManualClock()
    let gate = Gate(closed: [2])
    let scheduler = FrameScheduler(
      sharing: PaintedFrames.tenths(9, gate: gate),
      options: PlaybackOptions(decodeAhead: 1, recordsTrace: true), clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    _ = await frames.next()
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(103))
    #expect(await frames.next()?.index == 1)
    clock.advance(by: .milliseconds(250))
    gate.open(2)
    #expect(await frames.next()?.index == 3)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(260))
    #expect(await frames.next()?.index == 6)
    for _ in 7...9 {
      await clock.waitForSleepers(count: 1)
      clock.advance(to: clock.deadlines[0])
    }
    #expect(await scheduler.waitUntilEnded() == .finished)
    return scheduler.trace
  }

  @Test func `a trace survives being written and read`() async throws {
    let trace = try await recordedTrace()
    #expect(trace.entries.count == 6)
    #expect(try PlaybackTrace(json: trace.json) == trace)
  }

  @Test func `a trace played again on the machine gives the same frames at the same times`()
    async throws
  {
    let trace = try PlaybackTrace(json: try await recordedTrace().json)
    var machine = try PlaybackStateMachine(
      frames: PaintedFrames.controls(.tenths(9)), playCount: .once, options: PlaybackOptions())
    var action = machine.handle(.begin, at: .zero)
    for entry in trace.entries {
      // Under `skip` a frame that was overtaken while it was decoded is followed by another fetch.
      while case .fetch = action {
        action = machine.handle(.ready(ahead: 0), at: .nanoseconds(entry.decoded))
      }
      if case .wait = action {
        action = machine.handle(.due(ahead: 0), at: .nanoseconds(entry.yielded))
      }
      while case .fetch = action {
        action = machine.handle(.ready(ahead: 0), at: .nanoseconds(entry.yielded))
      }
      guard case .present(let presentation, let next) = action else {
        Issue.record("\(action) for \(entry)")
        return
      }
      #expect(presentation.step.frame == entry.index)
      #expect(presentation.deadline == .nanoseconds(entry.deadline))
      #expect(presentation.lateness == .nanoseconds(entry.lateness))
      #expect(presentation.skipped == entry.skipped)
      action = next
    }
  }

  @Test(arguments: ["", "{", "[1]", "[{\"index\":1}]", "[{\"index\":\"a\"}]", "[{\"index\":1"])
  func `text that is not a trace is malformed`(text: String) {
    let error = #expect(throws: AnimatedImageError.self) { try PlaybackTrace(json: text) }
    #expect(error?.code == .malformed)
  }

  @Test func `members a reader does not know are passed over`() throws {
    let text = """
      {"version":1,"frames":[ {"index":1,"play":2,"deadline":-3,"decoded":4,"yielded":5,
      "lateness":6, "skipped":7, "size": 8} ]}
      """
    #expect(
      try PlaybackTrace(json: text).entries == [
        .init(index: 1, play: 2, deadline: -3, decoded: 4, yielded: 5, lateness: 6, skipped: 7)
      ])
  }
}
