import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeFrames
@testable import ZoetropePlayback

/// The schedule of a stream, on the manual clock.
@Suite(.timeLimit(.minutes(10))) struct StreamedPlaybackTests {
  let clock = ManualClock()

  /// A stream of frames of 100 ms that the test sends, and its player.
  private final class Player {
    let producer: AsyncStream<[UInt8]>.Continuation
    let stream: StreamedImage
    let scheduler: FrameScheduler
    var frames: AsyncStream<ScheduledFrame>.Iterator

    /// Sends the header and `count` frames, or the beginning of one.
    init(
      frames count: Int, options: PlaybackOptions = .init(), clock: ManualClock
    ) async throws {
      let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
      self.producer = producer
      let beginning = count > 0 ? Self.frames(0..<count) : Array(Self.frames(0..<1).prefix(20))
      producer.yield(Self.header + beginning)
      stream = try await StreamedImage(chunks)
      scheduler = FrameScheduler(stream, options: options, clock: clock)
      frames = scheduler.play().stream.makeAsyncIterator()
      if count > 0 { _ = await stream.waitForFrame(count - 1) }
    }

    /// Repeats for ever.
    private static let header =
      GIFPieces.header + [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]

    static func frames(_ range: Range<Int>) -> [UInt8] {
      range.flatMap { GIFPieces.frame(dataBytes: $0) }
    }

    /// Sends `count` more frames in one chunk, and waits until they have arrived.
    func send(_ count: Int = 1) async {
      let known = stream.frameCount
      producer.yield(Self.frames(known..<known + count))
      _ = await stream.waitForFrame(known + count - 1)
    }

    func end(with bytes: [UInt8] = [0x3b]) async -> StreamEnding? {
      producer.yield(bytes)
      producer.finish()
      return await stream.waitUntilEnded()
    }

    /// The next frame's index, deadline in milliseconds, and lateness.
    func next() async -> Shown? {
      guard let frame = await nextFrame() else { return nil }
      return Shown(
        index: frame.index, at: frame.presentationTime, lateness: frame.lateness,
        skipped: frame.skipped)
    }

    func nextFrame() async -> ScheduledFrame? { await frames.next(isolation: #isolation) }

    /// Waits until the driver has nothing to wait for: playback has run dry.
    func runDry() async {
      let live = scheduler.shared.live
      await eventually { live.count(.driver) == 0 }
    }
  }

  struct Shown: Equatable {
    var index: Int
    var at: Duration
    var lateness = Duration.zero
    var skipped = 0

    static func frame(_ index: Int, _ milliseconds: Int, skipped: Int = 0) -> Shown {
      Shown(index: index, at: .milliseconds(milliseconds), skipped: skipped)
    }
  }

  @Test func `a stream that keeps up is played as a whole file is`() async throws {
    let player = try await Player(frames: 2, clock: clock)
    #expect(await player.next() == .frame(0, 0))
    for index in 1..<6 {
      await player.send()
      await clock.waitForSleeper(until: .milliseconds(100 * index))
      clock.advance(by: .milliseconds(100))
      #expect(await player.next() == .frame(index, 100 * index))
    }
    #expect(player.scheduler.statistics.stalls == 0)
    player.scheduler.stop()
  }

  @Test func `run dry, the frame is held and the schedule resumes from the arrival`() async throws {
    let player = try await Player(frames: 1, clock: clock)
    #expect(await player.next() == .frame(0, 0))
    await player.runDry()
    #expect(player.scheduler.state == .playing)
    clock.advance(by: .milliseconds(350))
    await player.send(2)
    #expect(await player.next() == .frame(1, 350))
    await clock.waitForSleeper(until: .milliseconds(450))
    clock.advance(by: .milliseconds(100))
    #expect(await player.next() == .frame(2, 450))
    #expect(player.scheduler.statistics.stalls == 1)
    #expect(player.scheduler.statistics.stallTime == .milliseconds(250))
    player.scheduler.stop()
  }

  @Test func `frames that arrive in time after running dry shift nothing`() async throws {
    let player = try await Player(frames: 1, clock: clock)
    #expect(await player.next() == .frame(0, 0))
    await player.runDry()
    clock.advance(by: .milliseconds(60))
    await player.send(1)
    await clock.waitForSleeper(until: .milliseconds(100))
    clock.advance(by: .milliseconds(40))
    #expect(await player.next() == .frame(1, 100))
    #expect(player.scheduler.statistics.stalls == 0)
    player.scheduler.stop()
  }

  @Test func `with the policy keep, the schedule stays and late frames are skipped`() async throws {
    let player = try await Player(
      frames: 1, options: PlaybackOptions(stallPolicy: .keep), clock: clock)
    #expect(await player.next() == .frame(0, 0))
    await player.runDry()
    clock.advance(by: .milliseconds(350))
    await player.send(5)
    let late = Shown(
      index: 3, at: .milliseconds(300), lateness: .milliseconds(50), skipped: 2)
    #expect(await player.next() == late)
    await clock.waitForSleeper(until: .milliseconds(400))
    clock.advance(by: .milliseconds(50))
    #expect(await player.next() == .frame(4, 400))
    #expect(player.scheduler.statistics.stalls == 1)
    player.scheduler.stop()
  }

  @Test func `the first frame is shown when it arrives`() async throws {
    let player = try await Player(frames: 0, clock: clock)
    let (scheduler, producer, clock) = (player.scheduler, player.producer, clock)
    Task {
      let live = scheduler.shared.live
      await eventually { scheduler.state == .playing && live.count(.driver) == 0 }
      clock.advance(by: .milliseconds(500))
      producer.yield(Array(Player.frames(0..<1).dropFirst(20)))
    }
    #expect(await player.next() == .frame(0, 0))
    await player.runDry()
    #expect(await player.end() == .complete)
    // A single frame is shown once, for its delay.
    await clock.waitForSleeper(until: .milliseconds(600))
    clock.advance(by: .milliseconds(100))
    #expect(await player.next() == nil)
    #expect(player.scheduler.state == .finished)
  }

  @Test(arguments: [50, 450]) func `a complete stream loops`(endsAt: Int) async throws {
    let player = try await Player(frames: 3, clock: clock)
    #expect(await player.next() == .frame(0, 0))
    for index in 1...2 {
      await clock.waitForSleeper(until: .milliseconds(100 * index))
      clock.advance(by: .milliseconds(100))
      #expect(await player.next() == .frame(index, 100 * index))
    }
    await player.runDry()
    clock.advance(by: .milliseconds(endsAt))
    #expect(await player.end() == .complete)
    let start = max(300, 200 + endsAt)
    if endsAt < 100 {
      await clock.waitForSleeper(until: .milliseconds(300))
      clock.advance(by: .milliseconds(50))
    }
    for index in 0..<5 {
      if index > 0 {
        await clock.waitForSleeper(until: .milliseconds(start + 100 * index))
        clock.advance(by: .milliseconds(100))
      }
      #expect(await player.next() == .frame(index % 3, start + 100 * index))
    }
    player.scheduler.stop()
  }

  @Test func `a stream that ends early is played as far as it came`() async throws {
    let player = try await Player(
      frames: 2, options: PlaybackOptions(playCount: .once), clock: clock)
    #expect(await player.next() == .frame(0, 0))
    #expect(await player.end(with: [0x21]) == .truncated)
    await clock.waitForSleeper(until: .milliseconds(100))
    clock.advance(by: .milliseconds(100))
    #expect(await player.next() == .frame(1, 100))
    await clock.waitForSleeper(until: .milliseconds(200))
    clock.advance(by: .milliseconds(100))
    #expect(await player.next() == nil)
    #expect(player.scheduler.state == .finished)
  }

  @Test func `a stream that ends without a frame fails`() async throws {
    let player = try await Player(frames: 0, clock: clock)
    let ending = await player.end(with: [])
    #expect(ending?.error != nil)
    #expect(await player.next() == nil)
    #expect(player.scheduler.state.error == ending?.error)
  }

  @Test func `seeking back works while bytes arrive`() async throws {
    let player = try await Player(frames: 3, clock: clock)
    #expect(await player.next() == .frame(0, 0))
    #expect(try player.scheduler.seek(toFrame: 2) == .available)
    #expect(await player.next()?.index == 2)
    await player.runDry()
    #expect(try player.scheduler.seek(toFrame: 1) == .available)
    #expect(await player.next()?.index == 1)
    await clock.waitForSleeper(until: .milliseconds(100))
    clock.advance(by: .milliseconds(100))
    #expect(await player.next() == .frame(2, 100))
    player.scheduler.stop()
  }

  @Test func `a seek ahead of what has arrived waits for the frame`() async throws {
    let player = try await Player(frames: 2, clock: clock)
    #expect(await player.next() == .frame(0, 0))
    await clock.waitForSleeper(until: .milliseconds(100))
    #expect(try player.scheduler.seek(toFrame: 5) == .awaited)
    await player.runDry()
    clock.advance(by: .milliseconds(130))
    await player.send(3)
    await player.send(1)
    #expect(await player.next() == .frame(5, 130))
    await player.runDry()
    clock.advance(by: .milliseconds(40))
    await player.send(1)
    await clock.waitForSleeper(until: .milliseconds(230))
    clock.advance(by: .milliseconds(60))
    #expect(await player.next() == .frame(6, 230))
    player.scheduler.stop()
  }

  @Test func `a seek to a frame that never arrives shows the last`() async throws {
    let player = try await Player(frames: 2, clock: clock)
    #expect(await player.next() == .frame(0, 0))
    #expect(try player.scheduler.seek(toFrame: 9) == .awaited)
    await player.runDry()
    #expect(await player.end() == .complete)
    #expect(await player.next()?.index == 1)
    #expect(throws: AnimatedImageError.self) { try player.scheduler.seek(toFrame: 9) }
    player.scheduler.stop()
  }

  @Test func `a seek to a time that has not arrived waits for it`() async throws {
    let player = try await Player(frames: 2, clock: clock)
    #expect(await player.next() == .frame(0, 0))
    #expect(player.scheduler.seek(to: .milliseconds(150)) == .available)
    #expect(await player.next()?.index == 1)
    #expect(player.scheduler.seek(to: .milliseconds(430)) == .awaited)
    await player.runDry()
    clock.advance(by: .milliseconds(20))
    await player.send(2)
    await player.send(1)
    let frame = try #require(await player.nextFrame())
    #expect(frame.index == 4)
    #expect(frame.duration == .milliseconds(70))
    player.scheduler.stop()
  }

  @Test func `backward playback begins when the end has arrived`() async throws {
    let player = try await Player(
      frames: 2, options: PlaybackOptions(direction: .backward), clock: clock)
    let (scheduler, producer) = (player.scheduler, player.producer)
    Task {
      let live = scheduler.shared.live
      await eventually { scheduler.state == .playing && live.count(.driver) == 0 }
      producer.yield(Player.frames(2..<3) + [0x3b])
    }
    #expect(await player.next() == .frame(2, 0))
    await clock.waitForSleeper(until: .milliseconds(100))
    clock.advance(by: .milliseconds(100))
    #expect(await player.next() == .frame(1, 100))
    player.scheduler.stop()
  }

  @Test func `a pause while dry does not count as waiting`() async throws {
    let player = try await Player(frames: 1, clock: clock)
    #expect(await player.next() == .frame(0, 0))
    await player.runDry()
    clock.advance(by: .milliseconds(60))
    player.scheduler.pause()
    await player.runDry()
    clock.advance(by: .milliseconds(1000))
    await player.send(1)
    clock.advance(by: .milliseconds(500))
    player.scheduler.resume()
    // 40 ms of the first frame were left.
    await clock.waitForSleeper(until: .milliseconds(1600))
    clock.advance(by: .milliseconds(40))
    #expect(await player.next() == .frame(1, 1600))
    #expect(player.scheduler.statistics.stalls == 0)
    player.scheduler.stop()
  }

  @Test func `frames of a chosen range are played as soon as they are there`() async throws {
    let player = try await Player(
      frames: 2, options: PlaybackOptions(range: 1..<3), clock: clock)
    #expect(await player.next() == .frame(1, 0))
    await player.send(4)
    await clock.waitForSleeper(until: .milliseconds(100))
    clock.advance(by: .milliseconds(100))
    #expect(await player.next() == .frame(2, 100))
    // The range has arrived: it repeats, although the stream goes on.
    await clock.waitForSleeper(until: .milliseconds(200))
    clock.advance(by: .milliseconds(100))
    #expect(await player.next() == .frame(1, 200))
    player.scheduler.stop()
  }

  @Test func `a play count that arrives after a chosen range was played takes effect`() throws {
    var machine = try PlaybackStateMachine(
      frames: PaintedFrames.controls(.tenths(3)), playCount: .once,
      options: PlaybackOptions(range: 0..<2), isOpen: true)
    _ = machine.handle(.begin, at: .zero)
    _ = machine.handle(.ready(ahead: 0), at: .zero)
    _ = machine.handle(.ready(ahead: 0), at: .milliseconds(100))
    #expect(machine.shown?.frame == 1 && machine.pending == nil)
    let twice = FrameArrival(frames: [], playCount: .finite(2), isOpen: true)
    #expect(machine.handle(.arrived(twice), at: .milliseconds(150)) == .restart)
    #expect(machine.pending?.frame == 0 && machine.pending?.play == 1)
    #expect(machine.handle(.arrived(twice), at: .milliseconds(150)) == .none)
  }

  @Test func `a range that never arrives fails, and seeks in it do no harm`() throws {
    let frames = PaintedFrames.controls(.tenths(3))
    var poster = PlaybackOptions(reducesMotion: true)
    poster.posterIndex = 5
    for options in [PlaybackOptions(range: 5..<10), poster] {
      for time in [Duration.zero, .milliseconds(150), .seconds(9)] {
        var machine = try PlaybackStateMachine(
          frames: frames, playCount: .once, options: options, isOpen: true)
        #expect(machine.handle(.begin, at: .zero) == .suspend)
        #expect(machine.handle(.seekToTime(time), at: .zero) == .restart)
        #expect(machine.isPendingAwaited)
        let more = FrameArrival(frames: [], playCount: .once, isOpen: true)
        #expect(machine.handle(.arrived(more), at: .zero) == .none)
        let end = FrameArrival(frames: [], playCount: .once, isOpen: false)
        _ = machine.handle(.arrived(end), at: .zero)
        // The error is that of a file with these frames.
        #expect(machine.state.error?.code == .parameter)
        #expect(
          machine.state.error?.detail == "frame 5 does not exist; there are 3 frames")
      }
    }
  }

  @Test(arguments: [
    (PlaybackOptions(startIndex: -1), "frame -1 does not exist; frames are counted from 0"),
    (
      PlaybackOptions(startIndex: .max),
      "frame 9223372036854775807 does not exist; frames are counted from 0"
    ),
    (
      PlaybackOptions(reducesMotion: true, posterIndex: -2),
      "frame -2 does not exist; frames are counted from 0"
    ),
    (PlaybackOptions(range: -3..<2), "the range -3..<2 is empty or begins before frame 0"),
    (PlaybackOptions(range: 2..<2), "the range 2..<2 is empty or begins before frame 0"),
  ])
  func `errors of an open stream do not state a number of frames`(
    options: PlaybackOptions, detail: String
  ) {
    let error = #expect(throws: AnimatedImageError.self) {
      try PlaybackStateMachine(
        frames: PaintedFrames.controls(.tenths(3)), playCount: .once, options: options,
        isOpen: true)
    }
    #expect(error?.code == .parameter)
    #expect(error?.detail == detail)
  }

  @Test func `a stream without any frame fails with that`() throws {
    var machine = try PlaybackStateMachine(
      frames: [], playCount: .once, options: .init(), isOpen: true)
    _ = machine.handle(.begin, at: .zero)
    let end = FrameArrival(frames: [], playCount: .once, isOpen: false)
    _ = machine.handle(.arrived(end), at: .zero)
    #expect(machine.state.error?.code == .noFrames)
  }

  @Test func `a seek that the end of the stream overtakes goes to the last frame`() throws {
    for event in [
      PlaybackStateMachine.Event.seek(frame: 9, offset: .milliseconds(30)),
      .seekToTime(.milliseconds(950)),
    ] {
      var machine = try PlaybackStateMachine(
        frames: PaintedFrames.controls(.tenths(3)), playCount: .once, options: .init(),
        isOpen: true)
      let end = FrameArrival(frames: [], playCount: .once, isOpen: false)
      _ = machine.handle(.arrived(end), at: .zero)
      #expect(machine.handle(event, at: .zero) == .restart)
      #expect(!machine.isPendingAwaited)
      #expect(machine.pending?.frame == 2)
      guard case .fetch = machine.handle(.begin, at: .zero) else {
        Issue.record("suspended")
        continue
      }
    }
  }

  @Test func `a timescale in nanoseconds stays`() {
    let denominators: [UInt32] =
      [65521, 65519, 65497] + (0..<40).flatMap { _ in [3, 7] as [UInt32] }
    let frames = PaintedFrames.controls(denominators.map { .part(1, $0) })
    for known in [0, 1, 3, frames.count] {
      var timeline = PlaybackTimeline(Array(frames[..<known]), policy: .exact)
      for frame in frames[known...] {
        timeline.append([frame])
        if timeline.frameCount > 2 { #expect(timeline.timescale == 1_000_000_000) }
      }
      #expect(timeline.timescale == 1_000_000_000)
      #expect(timeline.frameCount == frames.count)
    }
  }

  @Test func `a timeline that grows is that of the whole`() {
    let delays: [FrameDelay] = [
      .part(10, 100), .part(1, 3), .part(7, 100), .part(1001, 30000), .part(0, 100), .part(1, 7),
    ]
    let frames = PaintedFrames.controls((0..<200).map { delays[$0 % delays.count] })
    let whole = PlaybackTimeline(frames, policy: .exact)
    var grown = PlaybackTimeline([], policy: .exact)
    for start in stride(from: 0, to: frames.count, by: 7) {
      grown.append(Array(frames[start..<min(start + 7, frames.count)]))
    }
    #expect(grown.timescale == whole.timescale)
    #expect(grown.startTimes == whole.startTimes)
  }

  @Test(arguments: 1...20) func `a machine fed in time decides as with all frames`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let delays = (0..<30).map { _ in
      FrameDelay.part(
        UInt32.random(in: 1...9, using: &random),
        [3, 7, 60, 100].randomElement(using: &random) ?? 1)
    }
    let frames = PaintedFrames.controls(delays)
    var options = PlaybackOptions(delayPolicy: .exact)
    options.bounces = seed.isMultiple(of: 3)
    let plays = PlayCount.finite(3)
    var whole = try MachineRun(delays: delays, playCount: plays, options: options)
    whole.run()
    var machine = try PlaybackStateMachine(
      frames: Array(frames[..<1]), playCount: plays, options: options, isOpen: true)
    var arrived = 1
    var now = Duration.zero
    var times: [Duration] = []
    var shown: [Int] = []
    var action = machine.handle(.begin, at: now)
    loop: while true {
      // A presentation is carried out before anything else happens.
      if case .present(let presentation, let next) = action {
        times.append(now)
        shown.append(presentation.step.frame)
        action = next
        continue
      }
      // More arrives whenever something happens, some of it late within its frame's time.
      if arrived < frames.count, Bool.random(using: &random) || action == .suspend {
        let count = Int.random(in: 1...min(3, frames.count - arrived), using: &random)
        let arrival = FrameArrival(
          frames: Array(frames[arrived..<arrived + count]), playCount: plays,
          isOpen: arrived + count < frames.count)
        arrived += count
        if machine.handle(.arrived(arrival), at: now) == .restart {
          action = machine.handle(.begin, at: now)
        }
      }
      switch action {
      case .fetch: action = machine.handle(.ready(ahead: 0), at: now)
      case .wait(let moment):
        now = max(now, moment)
        action = machine.handle(.due(ahead: 0), at: now)
      case .suspend where arrived < frames.count: continue
      default: break loop
      }
    }
    #expect(machine.state == .finished)
    #expect(shown == whole.frames)
    #expect(times == whole.times)
    #expect(now == whole.now)
    #expect(machine.stalls == 0)
  }
}
