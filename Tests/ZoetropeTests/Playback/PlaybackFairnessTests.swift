import Logging
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeFrames
@testable import ZoetropePlayback

/// No playback, and nothing that is called for one, holds up another.
@Suite(.timeLimit(.minutes(10))) struct PlaybackFairnessTests {
  @Test(arguments: [LatePolicy.skip, .stretch, .latest, .catchUp(maximumRate: 2)])
  func `a loop without delays holds up no other playback`(policy: LatePolicy) async {
    let loop = FrameScheduler(
      sharing: PaintedFrames.shared([.part(0, 100), .part(0, 100)], playCount: .indefinite),
      options: PlaybackOptions(delayPolicy: .exact, latePolicy: policy))
    let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let consumer = Task {
      var count = 0
      for await _ in loop.play().stream {
        if count == 0 { hasBegun.yield() }
        count += 1
      }
      return count
    }
    for await _ in begun { break }
    let player = FrameScheduler(
      sharing: PaintedFrames.tenths(50), options: .everyFrame, clock: ManualClock(.jumping))
    var frames: [Int] = []
    for await frame in player.play().stream { frames.append(frame.index) }
    #expect(frames == Array(0..<50))
    loop.stop()
    #expect(await consumer.value > 0)
  }

  /// A client that is never called.
  private final class Nobody: PlaybackThread.Client {
    let isObsolete = false
    func goOn(after cause: PlaybackThread.Cause) {}
  }

  @Test func `the longest waiting client has the next turn, with a deadline or without`() {
    var queue = PlaybackQueue()
    let clients = (0..<200).map { _ in Nobody() }
    let start = ContinuousClock.now
    // Every third asks at once; the others have a deadline; none has the same moment.
    let moments = clients.indices.map { start.advanced(by: .milliseconds($0 * 37 % 200)) }
    let asking = clients.indices.filter { $0 % 3 == 0 }.sorted { moments[$0] < moments[$1] }
    for index in asking { queue.add(.call(clients[index], .signal), at: moments[index]) }
    for index in clients.indices where index % 3 != 0 {
      queue.add(clients[index], at: moments[index])
    }
    // Two are taken out, wherever they are.
    let removed = clients.indices.filter { $0 % 3 == 1 }.prefix(2)
    for index in removed { #expect(queue.removeTimers(of: clients[index]).count == 1) }
    var turns: [Int] = []
    let end = start.advanced(by: .seconds(1))
    while case .work(.call(let client, let cause)) = queue.take(at: end) {
      guard let index = clients.firstIndex(where: { $0 === client }) else { break }
      #expect((cause == .deadline) == (index % 3 != 0))
      turns.append(index)
    }
    let rest = clients.indices.filter { !removed.contains($0) }
    #expect(turns == rest.sorted { moments[$0] < moments[$1] })
    guard case .wait(until: nil) = queue.take(at: end) else {
      Issue.record("something is left")
      return
    }
  }

  @Test func `nobody is called before the deadline`() {
    var queue = PlaybackQueue()
    let start = ContinuousClock.now
    queue.add(Nobody(), at: start.advanced(by: .seconds(1)))
    queue.add(Nobody(), at: start.advanced(by: .milliseconds(1)))
    guard case .wait(let moment) = queue.take(at: start) else {
      Issue.record("somebody was called")
      return
    }
    #expect(moment == start.advanced(by: .milliseconds(1)))
  }

  /// A handler that blocks at its first line until it is released.
  struct BlockingHandler: LogHandler {
    let gate: Gate
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) { gate.pass(0) }
  }

  @Test func `a log handler that blocks holds up no frame`() async {
    let gate = Gate(closed: [0])
    let logger = Logger(label: "test") { _ in BlockingHandler(gate: gate) }
    let clock = ManualClock()
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(9), clock: clock, logger: logger)
    var frames = scheduler.play().stream.makeAsyncIterator()
    #expect(await frames.next()?.index == 0)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(350))
    #expect(await frames.next()?.index == 3)
    #expect(gate.decoded.isEmpty)
    scheduler.stop()
    #expect(await frames.next() == nil)
    gate.open(0)
    #expect(await scheduler.waitUntilEnded() == .stopped)
    #expect(gate.decoded.count == 2)
  }

  @Test func `a task that waits for the end or for idleness may give up`() async {
    let shared = PaintedFrames.tenths(3)
    let scheduler = FrameScheduler(sharing: shared, clock: ManualClock())
    // A frame that is wanted and never decoded.
    let ticket = FrameTicket(index: 0, live: shared.live)
    let (ending, idle) = (
      Task { await scheduler.waitUntilEnded() }, Task { await shared.waitUntilIdle() }
    )
    ending.cancel()
    idle.cancel()
    #expect(await ending.value == .idle)
    await idle.value
    #expect(shared.live.count(.wanted) == 1)
    withExtendedLifetime(ticket) {}
  }
}
