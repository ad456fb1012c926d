import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct PlaybackEndingTests {
  let clock = ManualClock()

  @Test func `stop ends the stream at once and drops the frame nobody took`() async {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(9), clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    _ = await frames.next()
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(100))
    await clock.waitForSleepers(count: 1)
    scheduler.stop()
    #expect(await frames.next() == nil)
    #expect(scheduler.state == .stopped)
    scheduler.stop()
    scheduler.resume()
    #expect(scheduler.state == .stopped)
    #expect(await scheduler.waitUntilEnded() == .stopped)
  }

  @Test func `leaving the loop ends playback`() async {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(9), clock: clock)
    for await frame in scheduler.play().stream where frame.index == 0 { break }
    #expect(await scheduler.waitUntilEnded() == .cancelled)
  }

  @Test func `cancelling the consumer's task ends playback`() async {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(9), clock: clock)
    let consumer = Task {
      var count = 0
      for await _ in scheduler.play().stream { count += 1 }
      return count
    }
    await clock.waitForSleepers(count: 1)
    consumer.cancel()
    #expect(await consumer.value <= 1)
    #expect(scheduler.state == .cancelled)
  }

  @Test func `dropping the stream ends playback`() async {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(9), clock: clock)
    do {
      let stream = scheduler.play().stream
      var frames = stream.makeAsyncIterator()
      _ = await frames.next()
    }
    #expect(await scheduler.waitUntilEnded() == .cancelled)
  }

  @Test func `dropping a stream that was never awaited ends playback`() async {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(9), clock: clock)
    _ = scheduler.play().stream
    #expect(await scheduler.waitUntilEnded() == .cancelled)
  }

  @Test func `a stream keeps its scheduler`() async {
    var scheduler: FrameScheduler? = FrameScheduler(
      sharing: PaintedFrames.tenths(9), clock: clock)
    let stream = scheduler?.play().stream
    var frames = stream?.makeAsyncIterator()
    #expect(await frames?.next()?.index == 0)
    scheduler = nil
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(100))
    #expect(await frames?.next()?.index == 1)
  }

  @Test func `the frames of a scheduler that nothing else holds are played to their end`()
    async throws
  {
    let shared = PaintedFrames.tenths(9)
    var indices: [Int] = []
    do {
      let frames = FrameScheduler(
        sharing: shared, options: .everyFrame, clock: ManualClock(.jumping)
      ).play()
      for try await frame in frames { indices.append(frame.index) }
    }
    #expect(indices == Array(0..<9))
    await shared.live.reach(.nothing)
    #expect(shared.live.count(.session) == 0)
  }

  @Test func `a second stream begins also with options that do not equal themselves`() async {
    let options = PlaybackOptions(latePolicy: .catchUp(maximumRate: .nan))
    let scheduler = FrameScheduler(
      sharing: PaintedFrames.tenths(9), options: options, clock: clock)
    _ = scheduler.play().stream
    scheduler.rate = .nan
    var frames = scheduler.play().stream.makeAsyncIterator()
    #expect(await frames.next()?.index == 0)
  }

  @Test func `a frame that cannot be decoded ends playback when its time comes`() async throws {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(9, failing: 2), clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    #expect(await frames.next()?.index == 0)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(100))
    await clock.waitForSleepers(count: 1)
    // The fault of frame 2 is known by now; frame 1 still has its time and can still be taken.
    #expect(scheduler.state == .playing)
    #expect(clock.deadlines.map(\.offset) == [.milliseconds(200)])
    clock.advance(by: .milliseconds(100))
    guard let error = await scheduler.waitUntilEnded().error else {
      Issue.record("\(scheduler.state)")
      return
    }
    #expect(error.frameIndex == 2)
    #expect(await frames.next()?.index == 1)
    #expect(await frames.next() == nil)
  }

  @Test func `a throwing stream throws the error of playback once`() async throws {
    let scheduler = FrameScheduler(
      sharing: PaintedFrames.tenths(9, failing: 2), options: .everyFrame,
      clock: ManualClock(.jumping))
    var shown: [Int] = []
    let error = await #expect(throws: AnimatedImageError.self) {
      for try await frame in scheduler.play() { shown.append(frame.index) }
    }
    #expect(error?.code == .malformed)
    #expect(shown == [0, 1])
  }

  @Test func `a throwing stream that is stopped does not throw`() async throws {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(9), clock: clock)
    for try await _ in scheduler.play() { scheduler.stop() }
    #expect(scheduler.state == .stopped)
  }

  @Test(arguments: [PlaybackOptions(startIndex: 9), PlaybackOptions(playCount: .finite(0))])
  func `options that make no sense fail the stream`(options: PlaybackOptions) async {
    let scheduler = FrameScheduler(
      sharing: PaintedFrames.tenths(9), options: options, clock: clock)
    for await _ in scheduler.play().stream { Issue.record("no frame was expected") }
    guard let error = scheduler.state.error else {
      Issue.record("\(scheduler.state)")
      return
    }
    #expect(error.code == .parameter)
  }

  @Test func `an image without frames fails the stream`() async {
    let scheduler = FrameScheduler(sharing: PaintedFrames.shared([]), clock: clock)
    for await _ in scheduler.play().stream { Issue.record("no frame was expected") }
    guard let error = scheduler.state.error else {
      Issue.record("\(scheduler.state)")
      return
    }
    #expect(error.code == .noFrames)
  }

  @Test func `stopping during a decode does not wait for it`() async {
    let gate = Gate(closed: [1])
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(9, gate: gate), clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    _ = await frames.next()
    scheduler.stop()
    #expect(await frames.next() == nil)
    gate.open(1)
    #expect(scheduler.state == .stopped)
  }
}
