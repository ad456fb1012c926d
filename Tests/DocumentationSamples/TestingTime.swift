import Zoetrope
import ZoetropeTestSupport

func sampleOfTestingTime(
  _ image: AnimatedImage
) async throws -> (first: ScheduledFrame?, second: ScheduledFrame?) {
  let clock = ManualClock()
  let scheduler = FrameScheduler(image, clock: clock)
  var frames = scheduler.play().makeAsyncIterator()
  let first = try await frames.next()
  await clock.waitForSleepers(count: 1)
  clock.advance(by: .seconds(1))
  let second = try await frames.next()  // due after a second; the frames before it were skipped
  return (first, second)
}

func sampleOfTestingAConsumer(
  _ scheduler: FrameScheduler, _ clock: ManualClock
) async {
  let (shown, report) = AsyncStream.makeStream(of: Int.self)
  let view = Task {
    for await frame in scheduler.play().stream { report.yield(frame.index) }
    report.finish()
  }
  var indices = shown.makeAsyncIterator()
  while let index = await indices.next() {
    print(index)  // by now, the view has shown this frame
    if index == 3 { break }
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(100))
  }
  view.cancel()
}

func sampleOfTestingAHandler(_ bytes: [UInt8], _ clock: ManualClock) async -> [Duration] {
  let (shown, report) = AsyncStream.makeStream(of: Int.self)
  let call = Task {
    let status = await animateImage(
      bytes: bytes, options: AnimateImageOptions(loopCount: .once), clock: clock
    ) { index, _, _ in report.yield(index) }
    report.finish()
    return status
  }
  var times: [Duration] = []
  for await _ in shown {
    times.append(clock.now.offset)
    await clock.waitForSleepers(count: 1)
    clock.advance(to: clock.deadlines[0])
  }
  print(times, await call.value)
  return times
}

func sampleOfTwoPlayers(
  _ image: AnimatedImage, _ clock: ManualClock
) async throws -> (only: ScheduledFrame?, right: FrameScheduler) {
  let left = FrameScheduler(image, clock: clock)
  let right = FrameScheduler(image, clock: clock)
  var leftFrames = left.play().makeAsyncIterator()
  var rightFrames = right.play().makeAsyncIterator()
  _ = try await (leftFrames.next(), rightFrames.next())
  let times = image.startTimes()
  await clock.waitForSleepers(count: 2, until: times[1])  // both players
  right.rate = 0.5
  await clock.waitForSleeper(until: times[1] * 2)  // the right player, with its new deadline
  clock.advance(to: .init(offset: times[1]))
  let only = try await leftFrames.next()
  await clock.waitForSleeper(until: times[2])
  return (only, right)
}

func sampleOfAStall(
  _ beginning: [UInt8], _ rest: [UInt8], _ clock: ManualClock
) async throws -> (late: ScheduledFrame?, statistics: PlaybackStatistics) {
  let (chunks, sender) = AsyncStream.makeStream(of: [UInt8].self)
  sender.yield(beginning)
  let scheduler = FrameScheduler(try await StreamedImage(chunks), clock: clock)
  var frames = scheduler.play().makeAsyncIterator()
  let last = try await frames.next()  // the next frame is missing
  clock.advance(by: .seconds(5))
  sender.yield(rest)
  sender.finish()
  let late = try await frames.next()  // due when it arrives, after 5 seconds
  print(scheduler.statistics.stalls, scheduler.statistics.stallTime)
  _ = last
  return (late, scheduler.statistics)
}

func sampleOfPlayingAtOnce(_ image: AnimatedImage) async throws -> [Duration] {
  var options = PlaybackOptions.everyFrame
  options.playCount = .once
  var times: [Duration] = []
  for try await frame in image.play(options: options, clock: ManualClock(.jumping)) {
    times.append(frame.presentationTime)
  }
  return times
}

func sampleOfAFrame() throws -> CompositedFrame {
  let red = try Bitmap(
    size: PixelSize(width: 2, height: 1), bytes: [255, 0, 0, 255, 255, 0, 0, 255])
  let frame = CompositedFrame(index: 0, bitmap: red)
  return frame
}
