import Testing
import Zoetrope
import ZoetropeTestSupport

/// Moments of an animation as they are published, and what controls do to time.
@Suite(.timeLimit(.minutes(10))) struct PlaybackTimeTests {
  @Test(arguments: ["Demo", "APNG", "GIF"])
  func `a frame is found at its start time, whatever the delays`(folder: String) throws {
    let library = FixtureLibrary()
    for name in try FixtureFile.list("\(library.root)/\(folder)") {
      guard let image = try? AnimatedImage(bytes: library.file("\(folder)/\(name)")) else {
        continue
      }
      for policy in [DelayPolicy.browser, .exact] {
        let starts = image.startTimes(policy: policy)
        let timeline = PlaybackTimeline(image.frames, policy: policy)
        #expect(starts.last == image.duration(policy: policy))
        for index in image.frames.indices where starts[index] < starts[index + 1] {
          #expect(image.frameIndex(at: starts[index], policy: policy) == index, "\(name)")
          let position = timeline.position(
            at: starts[index], in: image.frames.indices, playCount: .once)
          #expect(position.frame == index && position.offset == .zero, "\(name)")
        }
      }
    }
  }

  @Test(arguments: [FrameDelay.part(1, 3), .part(1, 30), .part(1, 60), .part(1001, 30000)])
  func `a seek to the presentation time of a frame shows that frame`(delay: FrameDelay) async {
    let shared = PaintedFrames.shared(Array(repeating: delay, count: 20))
    var options = PlaybackOptions.everyFrame
    options.delayPolicy = .exact
    let player = FrameScheduler(sharing: shared, options: options, clock: ManualClock(.jumping))
    var times: [Duration] = []
    for await frame in player.play().stream { times.append(frame.presentationTime) }
    #expect(times.count == 20)
    for (index, time) in times.enumerated() {
      let scheduler = FrameScheduler(
        sharing: shared, options: options, clock: ManualClock(.jumping))
      var frames = scheduler.play().stream.makeAsyncIterator()
      scheduler.seek(to: time)
      #expect(await frames.next()?.index == index)
    }
  }

  @Test(arguments: [LatePolicy.skip, .stretch, .latest, .catchUp(maximumRate: 2)])
  func `a lower rate moves no overdue frame into the past`(policy: LatePolicy) throws {
    var run = try MachineRun(delays: .tenths(5), options: PlaybackOptions(latePolicy: policy))
    run.run(limit: 1)
    // Frame 1 was due at 100 ms; nobody has taken frame 0 yet.
    run.now = .milliseconds(290)
    run.control(.setRate(PlaybackRate(0.01)))
    run.run()
    #expect(run.frames == (policy == .skip ? [0, 2, 3, 4] : [0, 1, 2, 3, 4]))
    for (frame, next) in zip(run.presentations, run.presentations.dropFirst()) {
      #expect(next.deadline >= frame.deadline)
    }
    #expect(run.presentations.allSatisfy { $0.lateness <= .milliseconds(190) })
  }

  @Test func `an overdue frame keeps its deadline when the rate falls`() async {
    let clock = ManualClock()
    let scheduler = FrameScheduler(
      sharing: PaintedFrames.tenths(5),
      options: PlaybackOptions(latePolicy: .stretch, buffering: .lossless), clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    #expect(await frames.next()?.index == 0)
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(290))
    scheduler.rate = 0.01
    for index in 1...2 {
      let frame = await frames.next()
      #expect(frame?.index == index)
      #expect(frame.map { $0.presentationTime >= .milliseconds(100) } == true)
      if index == 1 {
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(10))
      }
    }
  }

  @Test func `a seek before the first frame survives changes of direction`() throws {
    var run = try MachineRun(delays: [.part(1, 10), .part(1, 10), .part(4, 10)])
    run.control(.seek(frame: 2, offset: .milliseconds(300)))
    run.control(.setDirection(.backward))
    run.control(.setDirection(.forward))
    run.run()
    #expect(run.frames == [2])
    #expect(run.presentations.first?.duration == .milliseconds(100))
  }

  @Test func `a start that was asked for survives a change of direction`() throws {
    var run = try MachineRun(delays: .tenths(3), options: PlaybackOptions(startIndex: 0))
    run.control(.setDirection(.backward))
    run.run()
    #expect(run.frames == [0])
  }

  @Test func `a stall of hours is not made up for`() throws {
    var run = try MachineRun(
      delays: .tenths(10), playCount: .indefinite,
      options: PlaybackOptions(latePolicy: .catchUp(maximumRate: 2)))
    run.run(limit: 3)
    run.now += .seconds(8 * 3600)
    let moment = run.now
    run.run(limit: 1)
    #expect(run.presentations.last?.lateness ?? .zero > .seconds(8 * 3600 - 1))
    run.run(limit: 300)
    #expect(run.presentations.suffix(300).allSatisfy { $0.lateness <= .seconds(10) })
    #expect(run.presentations.last?.lateness == .zero)
    #expect(run.now - moment < .seconds(25))
  }

  @Test func `a clock set forward by ages overflows nothing`() throws {
    for bounces in [false, true] {
      for rate in [0.001, 1, 1000] {
        var run = try MachineRun(
          delays: [.part(1, 4_294_967_295), .part(1, 4_294_967_295), .part(1, 4_294_967_295)],
          playCount: .indefinite,
          options: PlaybackOptions(rate: rate, bounces: bounces, delayPolicy: .exact))
        run.run(limit: 2)
        for _ in 0..<4 {
          run.now += .seconds(Int64.max / 4096)
          run.run(limit: 1)
        }
        #expect(run.shown.count == 6)
      }
    }
  }

  @Test(arguments: [0.001, 1, 1000])
  func `a frame that never ends still lasts and keeps its time when steered`(rate: Double) async {
    let most = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)
    for delay in [.seconds(86400), .seconds(1e12), .seconds(1e17), most, most * 18] {
      let clock = ManualClock()
      let scheduler = FrameScheduler(
        sharing: PaintedFrames.tenths(5),
        options: PlaybackOptions(playCount: .indefinite, rate: rate, fixedDelay: delay),
        clock: clock)
      var frames = scheduler.play().stream.makeAsyncIterator()
      var last = await frames.next()
      for step in 0..<8 {
        clock.advance(by: .milliseconds(100))
        scheduler.direction = step % 2 == 0 ? .backward : .forward
        scheduler.rate = [7, 0.001, 1000, rate][step % 4]
        switch step {
        case 0, 4: scheduler.seek(to: .zero)
        case 1: scheduler.seek(to: most * 18)
        case 2: scheduler.seek(to: most * -18)
        default: _ = try? scheduler.seek(toFrame: step % 5)
        }
        let frame = await frames.next()
        #expect(frame.map { $0.duration >= .zero } == true, "\(delay) \(step)")
        #expect(
          frame.map { $0.presentationTime >= last?.presentationTime ?? .zero } == true,
          "\(delay) \(step)")
        last = frame
      }
    }
  }

  @Test(arguments: [LatePolicy.skip, .stretch, .latest, .catchUp(maximumRate: 3)])
  func `at the end of time, frames follow each other at once`(policy: LatePolicy) throws {
    for bounces in [false, true] {
      var run = try MachineRun(
        delays: .tenths(3), playCount: .indefinite,
        options: PlaybackOptions(
          rate: 0.001, bounces: bounces, fixedDelay: .seconds(Int64.max), latePolicy: policy))
      run.now = PlaybackStateMachine.endOfTime - .seconds(100_000_000_000_000)
      run.run(limit: 40)
      let times = run.presentations.map(\.deadline)
      #expect(times == times.sorted() && times.last == PlaybackStateMachine.endOfTime)
      #expect(run.presentations.allSatisfy { $0.duration >= .zero })
      run.now = .seconds(Int64.max)
      run.run(limit: 40)
      #expect(run.presentations.count == 80)
    }
  }

  @Test func `a clamped time has no fraction, so a longer one is never less`() {
    let rate = PlaybackRate(0.3)
    let times = (0..<50).map { Duration.seconds(Int64.max / 8) * (10 + $0) / 20 }
    let scaled = times.map { rate.wallTime($0 + .milliseconds(700)) }
    #expect(scaled == scaled.sorted())
    #expect(scaled.last == .seconds(Int64.max))
  }

  @Test func `options at the ends of their ranges play or are refused`() async {
    for ahead in [Int.min, 0, 64, .max] {
      for policy in [LatePolicy.skip, .latest, .catchUp(maximumRate: .infinity)] {
        let scheduler = FrameScheduler(
          sharing: PaintedFrames.tenths(5, keeping: .max),
          options: PlaybackOptions(
            playCount: .finite(2), latePolicy: policy, buffering: .lossless, decodeAhead: ahead),
          clock: ManualClock(.jumping))
        for await _ in scheduler.play().stream {}
        #expect(scheduler.state == .finished)
      }
    }
    let most = Duration.seconds(Int64.max)
    for delay in [most, most * 8] {
      let scheduler = FrameScheduler(
        sharing: PaintedFrames.tenths(5), options: PlaybackOptions(rate: 0, fixedDelay: delay))
      var frames = scheduler.play().stream.makeAsyncIterator()
      #expect(await frames.next()?.index == 0)
      scheduler.seek(to: most * -8)
      #expect(await frames.next()?.index == 0)
      scheduler.seek(to: most * 8)
      #expect(await frames.next()?.index == 4)
      scheduler.stop()
    }
    for options in [
      PlaybackOptions(startIndex: .min), .init(startIndex: .max), .init(range: Int.min..<Int.max),
      .init(range: 0..<Int.max), .init(fixedDelay: most * -8), .init(playCount: .finite(.min)),
      .init(reducesMotion: true, posterIndex: .max),
    ] {
      let scheduler = FrameScheduler(
        sharing: PaintedFrames.tenths(5), options: options, clock: ManualClock(.jumping))
      for await _ in scheduler.play().stream {}
      guard let error = scheduler.state.error else {
        Issue.record("\(options): \(scheduler.state)")
        continue
      }
      #expect(error.code == .parameter)
    }
  }

  @Test func `times do not depend on whether frames were known at once`() {
    // The common denominator of these delays is too large, so times are in nanoseconds.
    let delays: [(UInt32, UInt32)] = [(1, 3), (1, 3), (1, 3), (6553, 65521), (6553, 65519)]
    let frames = delays.map {
      FrameControl(
        index: 0, rect: PixelRect(x: 0, y: 0, width: 1, height: 1),
        delay: FrameDelay(numerator: $0.0, denominator: $0.1))
    }
    let whole = PlaybackTimeline(frames, policy: .exact)
    var arriving = PlaybackTimeline([], policy: .exact)
    for frame in frames { arriving.append([frame]) }
    for index in 0...frames.count { #expect(whole.startTime(index) == arriving.startTime(index)) }
    #expect(whole.startTime(3) == .seconds(1))
  }
}
