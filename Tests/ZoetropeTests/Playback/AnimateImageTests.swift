import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct AnimateImageTests {
  /// Plays with a clock that moves on whenever the handler has had a frame.
  private func play(
    _ shared: SharedFrames, _ options: AnimateImageOptions = .init(), stopAfter: Int = .max
  ) async -> (status: PlaybackState, shown: [Int], end: Duration) {
    let clock = ManualClock()
    let (handled, continuation) = AsyncStream.makeStream(of: Void.self)
    let ticker = Task {
      for await _ in handled {
        await clock.waitForSleepers(count: 1)
        guard let next = clock.deadlines.first else { return }
        clock.advance(to: next)
      }
    }
    var shown: [Int] = []
    let status = await animate(shared, options: options, clock: clock) { index, bitmap, stop in
      #expect(bitmap == PaintedFrames.bitmap(index))
      shown.append(index)
      stop = shown.count >= stopAfter
      if !stop { continuation.yield() }
    }
    continuation.finish()
    await ticker.value
    return (status, shown, clock.now.offset)
  }

  @Test func `the handler gets every frame of every play`() async {
    let run = await play(PaintedFrames.tenths(3, playCount: .finite(2)))
    #expect(run.status == .finished)
    #expect(run.shown == [0, 1, 2, 0, 1, 2])
    #expect(run.end == .milliseconds(600))
  }

  @Test func `however fast time runs, the handler misses no frame`() async {
    var shown: [Int] = []
    let status = await animate(
      PaintedFrames.tenths(7, playCount: .finite(300)), options: .init(),
      clock: ManualClock(.jumping)
    ) { index, _, _ in shown.append(index) }
    #expect(status == .finished)
    #expect(shown == (0..<300).flatMap { _ in 0..<7 })
  }

  @Test func `a handler that takes long delays the frames after it and loses none`() async {
    let clock = ManualClock()
    var times: [Duration] = []
    let status = await animate(
      PaintedFrames.tenths(4), options: .init(), clock: clock
    ) { index, _, _ in
      times.append(clock.now.offset)
      clock.advance(by: .milliseconds(250))
    }
    #expect(status == .finished)
    #expect(times == [0, 250, 500, 750].map { .milliseconds($0) })
  }

  @Test func `start index, delay time and loop count are obeyed`() async {
    let run = await play(
      PaintedFrames.tenths(3),
      AnimateImageOptions(startIndex: 1, delayTime: .milliseconds(30), loopCount: .finite(2)))
    #expect(run.shown == [1, 2, 0, 1, 2])
    #expect(run.end == .milliseconds(150))
  }

  @Test func `an infinite loop runs until the handler stops it`() async {
    let run = await play(
      PaintedFrames.tenths(3), AnimateImageOptions(loopCount: .indefinite), stopAfter: 50)
    #expect(run.status == .stopped)
    #expect(run.shown.count == 50)
  }

  @Test(arguments: [
    AnimateImageOptions(startIndex: 3), AnimateImageOptions(startIndex: -1),
    AnimateImageOptions(delayTime: .seconds(-1)), AnimateImageOptions(loopCount: .finite(0)),
  ])
  func `options that make no sense are a parameter error`(options: AnimateImageOptions) async {
    let run = await play(PaintedFrames.tenths(3), options)
    #expect(run.status.error?.code == .parameter)
    #expect(run.shown.isEmpty)
  }

  @Test func `an image is opened with the limits that the options give`() async throws {
    let bytes = try FixtureLibrary().file("Demo/variable-delay.gif")
    var limits = DecodingLimits.default
    limits.frameCount = 2
    let refused = AnimateImageOptions(decoding: DecodingOptions(limits: limits))
    var count = 0
    let status = await animateImage(
      bytes: bytes, options: refused, clock: ManualClock(.jumping)
    ) { _, _, _ in count += 1 }
    #expect(status.error?.code == .limitExceeded)
    #expect(count == 0)
  }

  @Test func `cancelling the task ends the call`() async {
    let clock = ManualClock()
    let task = Task {
      await animate(PaintedFrames.tenths(3), options: .init(), clock: clock) { _, _, _ in }
    }
    await clock.waitForSleepers(count: 1)
    task.cancel()
    #expect(await task.value == .cancelled)
  }
}
