import Logging
import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct PlaybackLoggingTests {
  /// Keeps what is logged.
  final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
  }

  struct Handler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) {
      lines.append("\(event.level) \(event.message) \(event.metadata ?? [:])")
    }
  }

  @Test func `endings are logged once with statistics, failures as warnings`() async {
    for (failing, start) in [
      (nil as Int?, "info playback finished"), (2, "warning playback failed"),
    ] {
      let lines = Lines()
      let logger = Logger(label: "test") { _ in Handler(lines: lines) }
      let scheduler = FrameScheduler(
        sharing: PaintedFrames.tenths(4, failing: failing), options: .everyFrame,
        clock: ManualClock(.jumping), logger: logger)
      for await _ in scheduler.play().stream {}
      scheduler.stop()
      #expect(lines.all.count == 1)
      #expect(lines.all.first?.hasPrefix(start) == true, "\(lines.all)")
      #expect(lines.all.first?.contains("presented=\(failing ?? 4)") == true, "\(lines.all)")
    }
  }

  @Test func `skipped frames are logged for debugging`() async {
    let lines = Lines()
    let logger = Logger(label: "test") { _ in Handler(lines: lines) }
    let clock = ManualClock()
    let scheduler = FrameScheduler(
      sharing: PaintedFrames.tenths(9), clock: clock, logger: logger)
    var frames = scheduler.play().stream.makeAsyncIterator()
    _ = await frames.next()
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(350))
    #expect(await frames.next()?.index == 3)
    #expect(scheduler.statistics.skipped == 2)
    // Lines are written elsewhere, in order.
    scheduler.stop()
    _ = await scheduler.waitUntilEnded()
    #expect(lines.all.count == 2)
    #expect(lines.all.first?.contains("debug frames skipped") == true)
  }

  /// Asks the scheduler that logs.
  struct AskingHandler: LogHandler {
    final class Asked: Sendable {
      let scheduler = Mutex<FrameScheduler?>(nil)
      let answers = Mutex<[String]>([])
    }

    let asked: Asked
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) {
      guard let scheduler = asked.scheduler.withLock({ $0 }) else { return }
      let (state, skipped) = (scheduler.state, scheduler.statistics.skipped)
      // The frame may be there by the time that its line is written.
      let answer =
        state == .playing ? "\(state)" : "\(state) skipped=\(skipped) at \(scheduler.rate)"
      asked.answers.withLock { $0.append(answer) }
    }
  }

  @Test func `a log handler may ask the scheduler that logs`() async {
    let asked = AskingHandler.Asked()
    let logger = Logger(label: "test") { _ in AskingHandler(asked: asked) }
    let clock = ManualClock()
    let scheduler = FrameScheduler(
      sharing: PaintedFrames.tenths(4), clock: clock, logger: logger)
    asked.scheduler.withLock { $0 = scheduler }
    var frames = scheduler.play().stream.makeAsyncIterator()
    _ = await frames.next()
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(350))
    #expect(await frames.next()?.index == 3)
    // Lines are written on a thread of their own.
    await eventually { asked.answers.withLock { $0.count } == 1 }
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(50))
    #expect(await frames.next() == nil)
    asked.scheduler.withLock { $0 = nil }
    #expect(
      asked.answers.withLock { $0 } == [
        "playing", "finished skipped=2 at 1.0",
      ])
  }
}
