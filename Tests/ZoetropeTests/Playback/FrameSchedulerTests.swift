import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct FrameSchedulerTests {
  let clock = ManualClock()

  @Test func `each frame comes at its deadline and the stream ends after the last was held`()
    async throws
  {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(3), clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    #expect(scheduler.state == .idle)
    for index in 0..<3 {
      let frame = try #require(await frames.next())
      #expect(frame.index == index)
      #expect(frame.bitmap == PaintedFrames.bitmap(index))
      #expect(frame.presentationTime == .milliseconds(100 * index))
      #expect(frame.duration == .milliseconds(100))
      #expect(frame.delay == FrameDelay(centiseconds: 10))
      #expect(frame.lateness == .zero)
      #expect(frame.skipped == 0)
      #expect(frame.isLast == (index == 2))
      #expect(scheduler.state == .playing)
      await clock.waitForSleepers(count: 1)
      #expect(clock.deadlines.map(\.offset) == [.milliseconds(100 * (index + 1))])
      clock.advance(by: .milliseconds(100))
    }
    #expect(await frames.next() == nil)
    #expect(scheduler.state == .finished)
    #expect(await frames.next() == nil)
  }

  @Test func `four thousand frames on a jumping clock come exactly on time`() async throws {
    let clock = ManualClock(.jumping)
    let delays = [FrameDelay.part(1, 3), .part(1, 7), .part(3, 100), .part(1001, 30000)]
    var options = PlaybackOptions.everyFrame
    options.playCount = .finite(1_000)
    let shared = PaintedFrames.shared(delays)
    let scheduler = FrameScheduler(sharing: shared, options: options, clock: clock)
    var count = 0
    for await frame in scheduler.play().stream {
      if frame.index == 0 {
        // 1/3 + 1/7 + 3/100 + 1001/30000 s, over 210 000.
        let ticks = Int128(count / 4) * (70_000 + 30_000 + 6_300 + 7_007)
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: 210_000)
        #expect(
          frame.presentationTime
            == Duration(
              secondsComponent: Int64(seconds),
              attosecondsComponent: Int64(rest * 1_000_000_000_000_000_000 / 210_000)))
      }
      #expect(frame.index == count % 4)
      count += 1
    }
    #expect(count == 4_000)
    #expect(scheduler.statistics.lateness.maximum == .zero)
    #expect(scheduler.state == .finished)
    // At most the frame being delivered, those decoded ahead, and one that the decoding thread may release later than
    // its consumer: nothing piles up. The decoding thread has one at a time. Frames are requested and delivered by the
    // playback's thread alone.
    #expect(shared.live.peak(.ticket) <= options.decodeAhead + 2)
    #expect(shared.live.peak(.decode) == 1)
  }

  @Test func `a frame in transit during a seek is distinguished from later ones`() async throws {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(5), clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    let first = try #require(await frames.next())
    #expect(first.seekCount == 0)
    #expect(scheduler.seekCount == 0)
    // Its driver sleeps once the frame that comes after it is decoded.
    await clock.waitForSleepers(count: 1)
    try scheduler.seek(toFrame: 3)
    #expect(scheduler.seekCount == 1)
    #expect(first.seekCount < scheduler.seekCount)
    let second = try #require(await frames.next())
    #expect(second.index == 3)
    #expect(second.seekCount == 1)
    scheduler.stop()
  }

  @Test func `backward shows the frames of forward, byte for byte`() async {
    var shown: [PlaybackDirection: [Bitmap]] = [:]
    for direction in [PlaybackDirection.forward, .backward] {
      var options = PlaybackOptions.everyFrame
      options.direction = direction
      let scheduler = FrameScheduler(
        sharing: PaintedFrames.tenths(9), options: options, clock: ManualClock(.jumping))
      for await frame in scheduler.play().stream {
        shown[direction, default: []].append(frame.bitmap)
      }
    }
    #expect(shown[.forward]?.count == 9)
    #expect(shown[.forward] == shown[.backward]?.reversed())
  }

  @Test func `a slow consumer sees the newest frame, and how many it missed`() async throws {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(5), clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    #expect(await frames.next()?.index == 0)
    for _ in 0..<3 {
      await clock.waitForSleepers(count: 1)
      clock.advance(by: .milliseconds(100))
    }
    await clock.waitForSleepers(count: 1)
    let frame = try #require(await frames.next())
    #expect(frame.index == 3)
    #expect(frame.skipped == 2)
    #expect(frame.dirtyRect == PixelRect(x: 1, y: 0, width: 3, height: 1))
    #expect(scheduler.statistics.replaced == 2)
    #expect(scheduler.statistics.presented == 4)
  }

  @Test func `a lossless stream waits for its consumer and loses nothing`() async throws {
    let scheduler = FrameScheduler(
      sharing: PaintedFrames.tenths(4), options: .everyFrame, clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    #expect(await frames.next()?.index == 0)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(100))
    // Frame 1 is in the stream at 100 ms; it is taken at 450 ms, and frame 2 follows then.
    await eventually { scheduler.statistics.presented == 2 }
    clock.advance(by: .milliseconds(350))
    #expect(await frames.next()?.index == 1)
    let late = try #require(await frames.next())
    #expect(late.index == 2)
    #expect(late.lateness == .milliseconds(250))
    await clock.waitForSleepers(count: 1)
    #expect(clock.deadlines.map(\.offset) == [.milliseconds(550)])
  }

  @Test(arguments: [1, 2, 16])
  func `a slow consumer of the latest frames stays on time without loss`(ahead: Int) async throws {
    let shared = PaintedFrames.tenths(60)
    let scheduler = FrameScheduler(
      sharing: shared,
      options: PlaybackOptions(latePolicy: .latest, buffering: .lossless, decodeAhead: ahead),
      clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    for shown in stride(from: 0, to: 35, by: 7) {
      let index = await frames.next()?.index
      try #require(index == shown)
      await clock.waitForSleepers(count: 1)
      // The last frame that is decoded ahead.
      _ = try await shared.frame(at: min(shown + max(ahead, 2), 59))
      clock.advance(by: .milliseconds(700))
    }
    #expect(await frames.next()?.index == 35)
    // While the consumer is busy, frame 36 is in the stream, and time goes on.
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(100))
    await eventually { scheduler.statistics.presented == 7 }
    _ = try await shared.frame(at: min(36 + max(ahead, 2), 59))
    clock.advance(by: .milliseconds(600))
    #expect(await frames.next()?.index == 36)
    let frame = try #require(await frames.next())
    #expect(frame.index == 42)
    #expect(frame.lateness == .zero)
  }

  @Test func `a pause that ends before a frame is awaited leaves playback idle`() async {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(2), clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    scheduler.pause()
    #expect(scheduler.state == .paused)
    scheduler.resume()
    #expect(scheduler.state == .idle)
    #expect(await frames.next()?.index == 0)
    #expect(scheduler.state == .playing)
    scheduler.pause()
    scheduler.resume()
    #expect(scheduler.state == .playing)
    scheduler.stop()
  }

  @Test func `pause, resume, seek and rate act on a running stream`() async throws {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(5), clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    #expect(await frames.next()?.index == 0)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(40))
    scheduler.pause()
    #expect(scheduler.state == .paused)
    clock.advance(by: .seconds(10))
    scheduler.resume()
    await clock.waitForSleepers(count: 1)
    #expect(clock.deadlines.map(\.offset) == [.milliseconds(10_100)])
    scheduler.rate = 2
    await clock.waitForSleeper(until: .milliseconds(10_070))
    clock.advance(by: .milliseconds(30))
    let second = try #require(await frames.next())
    #expect(second.index == 1)
    #expect(second.duration == .milliseconds(50))
    #expect(second.presentationTime == .milliseconds(10_070))
    try scheduler.seek(toFrame: 3)
    #expect(await frames.next()?.index == 3)
    scheduler.seek(to: .milliseconds(250))
    let middle = try #require(await frames.next())
    #expect(middle.index == 2)
    #expect(middle.duration == .milliseconds(25))
    #expect(throws: AnimatedImageError.self) { try scheduler.seek(toFrame: 5) }
    scheduler.direction = .backward
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(25))
    #expect(await frames.next()?.index == 1)
  }

  @Test func `a still picture is shown once and held`() async {
    let scheduler = FrameScheduler(
      sharing: PaintedFrames.tenths(1, playCount: .indefinite), options: .everyFrame,
      clock: ManualClock(.jumping))
    var count = 0
    for await frame in scheduler.play().stream {
      count += 1
      #expect(frame.isLast)
    }
    #expect(count == 1)
    #expect(scheduler.state == .finished)
  }

  @Test func `with reduced motion the poster comes and the stream ends`() async {
    let scheduler = FrameScheduler(
      sharing: PaintedFrames.tenths(9, playCount: .indefinite),
      options: PlaybackOptions(reducesMotion: true, posterIndex: 4), clock: clock)
    var shown: [Int] = []
    for await frame in scheduler.play().stream { shown.append(frame.index) }
    #expect(shown == [4])
    #expect(scheduler.state == .finished)
    #expect(clock.deadlines.isEmpty)
  }

  @Test func `a second stream starts anew and ends the first`() async {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(3), clock: clock)
    var first = scheduler.play().stream.makeAsyncIterator()
    #expect(await first.next()?.index == 0)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(100))
    #expect(await first.next()?.index == 1)
    var second = scheduler.play().stream.makeAsyncIterator()
    #expect(await first.next() == nil)
    let frame = await second.next()
    #expect(frame?.index == 0)
    #expect(frame?.presentationTime == .zero)
  }
}
