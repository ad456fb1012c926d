import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropePlayback

@Suite(.timeLimit(.minutes(10))) struct SharedFramesTests {
  @Test(arguments: [1, 2, 8, 64])
  func `consumers in step cause one decode for each frame`(consumers: Int) async {
    let clock = ManualClock()
    let gate = Gate()
    let shared = PaintedFrames.tenths(6, playCount: .finite(3), keeping: 2, gate: gate)
    let order = (0..<3).flatMap { _ in 0..<6 }
    let shownCount = Tally()
    await withTaskGroup(of: [Int].self) { group in
      for _ in 0..<consumers {
        let scheduler = FrameScheduler(sharing: shared, clock: clock)
        group.addTask {
          var shown: [Int] = []
          for await frame in scheduler.play().stream {
            shown.append(frame.index)
            shownCount.add()
          }
          return shown
        }
      }
      for number in 1...18 {
        await shownCount.reach(consumers * number)
        await clock.waitForSleepers(count: consumers)
        clock.advance(by: .milliseconds(100))
      }
      for await shown in group { #expect(shown == order) }
    }
    #expect(gate.decoded == order)
    #expect(shared.decodeCount == 18)
  }

  /// Frames whose decoding needs the locks of the frames that are shared, and of their budget.
  private final class AskingFrames: FrameProducing {
    private let painted = PaintedFrames()
    private let ask: @Sendable () -> Void

    init(_ ask: @escaping @Sendable () -> Void) { self.ask = ask }

    func frame(
      at index: Int, isCancelled: () -> Bool
    ) throws(AnimatedImageError) -> CompositedFrame {
      ask()
      return try painted.frame(at: index, isCancelled: isCancelled)
    }
  }

  @Test func `without a thread for decoding, players share frames, decoded under no lock`() async {
    let clock = ManualClock()
    let budget = MemoryBudget(byteLimit: 1)
    let place = Mutex<SharedFrames?>(nil)
    let shared = SharedFrames(
      frames: PaintedFrames.controls(.tenths(6)), canvasSize: PaintedFrames.size,
      playCount: .finite(3), threads: DecodeThreads(count: 2) { _ in false },
      resting: RestingCost(in: budget, ofReader: 1 << 20)
    ) { () throws(AnimatedImageError) in
      AskingFrames {
        _ = place.withLock { $0 }?.decodeCount
        budget.settle()
      }
    }
    place.withLock { $0 = shared }
    let shownCount = Tally()
    await withTaskGroup(of: [Int].self) { group in
      for _ in 0..<2 {
        let scheduler = FrameScheduler(sharing: shared, clock: clock)
        group.addTask {
          var shown: [Int] = []
          for await frame in scheduler.play().stream {
            shown.append(frame.index)
            shownCount.add()
          }
          return shown
        }
      }
      for number in 1...18 {
        await shownCount.reach(2 * number)
        await clock.waitForSleepers(count: 2)
        clock.advance(by: .milliseconds(100))
      }
      for await shown in group { #expect(shown == (0..<3).flatMap { _ in 0..<6 }) }
    }
    await shared.waitUntilIdle()
    #expect(shared.share.heldBytes == 0)
    place.withLock { $0 = nil }
  }

  @Test func `a request for a frame releases the tickets that were examined`() {
    // Its thread never runs: nothing is decoded.
    let shared = SharedFrames(
      frames: PaintedFrames.controls(.tenths(80)), canvasSize: PaintedFrames.size,
      playCount: .once, threads: DecodeThreads(count: 1) { _ in true }
    ) { () throws(AnimatedImageError) in PaintedFrames() }
    var held = (0..<65).map { shared.ticket(for: $0, user: 0).ticket }
    var asked = Optional(shared.ticket(for: 70, user: 0))
    #expect(held.count == 65 && asked?.passing.count == 65)
    // As if the others let go while the last one looked.
    held = []
    #expect(shared.live.count(.ticket) == 66)
    asked?.passing = []
    #expect(shared.live.count(.ticket) == 1 && asked?.isNew == true)
    asked = nil
    #expect(shared.live.count(.ticket) == 0)
  }

  @Test func `a consumer that comes a little later finds the frames that were kept`() async {
    let clock = ManualClock()
    let shared = PaintedFrames.tenths(6, keeping: 2)
    let first = FrameScheduler(sharing: shared, clock: clock)
    var firstFrames = first.play().stream.makeAsyncIterator()
    for _ in 0..<2 {
      _ = await firstFrames.next()
      await clock.waitForSleepers(count: 1)
      clock.advance(by: .milliseconds(100))
    }
    // Frame 2 is on screen, 3 and 4 are decoded ahead; 1 and 2 are kept, 0 is gone.
    #expect(await firstFrames.next()?.index == 2)
    await clock.waitForSleepers(count: 1)
    #expect(shared.decodeCount == 5)
    let second = FrameScheduler(
      sharing: shared, options: PlaybackOptions(startIndex: 1), clock: clock)
    var secondFrames = second.play().stream.makeAsyncIterator()
    #expect(await secondFrames.next()?.index == 1)
    await clock.waitForSleepers(count: 2)
    #expect(shared.decodeCount == 5)
    #expect(second.statistics.decoded == 0)
  }

  @Test
  func `where decoding is quick, several frames are asked for at once, and then none for a while`()
    async
  {
    let clock = ManualClock()
    let shared = SharedFrames(
      frames: PaintedFrames.controls(
        Array(repeating: FrameDelay(centiseconds: 10), count: 9)),
      canvasSize: PaintedFrames.size, playCount: .once, keeping: 0, burst: 2
    ) { () throws(AnimatedImageError) in PaintedFrames() }
    let scheduler = FrameScheduler(sharing: shared, clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    #expect(await frames.next()?.index == 0)
    // Two ahead and two more; nothing while two are left. A frame that nobody has taken is in
    // memory as well: then it is two ahead again.
    for count in [4, 4, 5, 6, 7] {
      await clock.waitForSleepers(count: 1)
      #expect(shared.decodeCount == count)
      clock.advance(by: .milliseconds(100))
    }
    await clock.waitForSleepers(count: 1)
    #expect(await frames.next()?.index == 5)
    // Six, and one that the decoding thread, which has one at a time, may let go of later than its consumer.
    #expect(shared.live.peak(.ticket) <= 7)
  }

  @Test func `each consumer has its own position, rate, direction and late policy`() async {
    let shared = PaintedFrames.tenths(6)
    await withTaskGroup(of: Void.self) { group in
      for (rate, direction) in [(1.0, PlaybackDirection.forward), (3, .backward), (0.5, .forward)] {
        group.addTask {
          var options = PlaybackOptions.everyFrame
          options.rate = rate
          options.direction = direction
          let clock = ManualClock(.jumping)
          let scheduler = FrameScheduler(sharing: shared, options: options, clock: clock)
          var shown: [Int] = []
          for await frame in scheduler.play().stream {
            #expect(frame.bitmap == PaintedFrames.bitmap(frame.index))
            shown.append(frame.index)
          }
          #expect(shown == (direction == .forward ? Array(0..<6) : (0..<6).reversed()))
          #expect(clock.now.offset == .milliseconds(Int(600 / rate)))
        }
      }
    }
  }

  @Test func `frames that nobody uses any more are not kept`() {
    let shared = PaintedFrames.tenths(6, keeping: 2)
    shared.begin()
    var ticket = Optional(shared.ticket(for: 0, user: 0).ticket)
    ticket.map(shared.keep)
    ticket = nil
    #expect(shared.live.count(.ticket) == 1)
    shared.end()
    ticket = shared.ticket(for: 1, user: 0).ticket
    ticket.map(shared.keep)
    ticket = nil
    #expect(shared.live.count(.ticket) == 1)
  }

  @Test func `a single frame can be asked for`() async throws {
    let shared = PaintedFrames.tenths(6)
    #expect(try await shared.frame(at: 4).bitmap == PaintedFrames.bitmap(4))
    let error = await #expect(throws: AnimatedImageError.self) {
      _ = try await shared.frame(at: 6)
    }
    #expect(error?.code == .parameter)
  }

  @Test func `frames nobody waits for any more are not decoded`() async {
    let gate = Gate(closed: [0])
    let shared = PaintedFrames.tenths(9, gate: gate)
    var tasks: [Task<Void, Never>] = []
    for index in [0, 3, 4, 5] {
      tasks.append(Task { _ = try? await shared.frame(at: index) })
      // The first one has to be on the decoding thread before the others are asked for.
      await eventually { shared.decodeCount == tasks.count }
    }
    for task in tasks.dropFirst() { task.cancel() }
    for task in tasks.dropFirst() { await task.value }
    gate.open(0)
    await tasks[0].value
    _ = try? await shared.frame(at: 8)
    #expect(gate.decoded == [0, 8])
  }
}
