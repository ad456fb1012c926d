import Testing
import Zoetrope
import ZoetropeCore
import ZoetropeTestSupport

@testable import ZoetropeFrames
@testable import ZoetropePlayback

/// Also run under `--sanitize=thread`.
@Suite(.timeLimit(.minutes(10))) struct PlaybackChurnTests {
  /// Ways in which a playback can be ended.
  enum Ending: CaseIterable {
    case stop, cancel, leave, dropScheduler, control
  }

  @Test(arguments: [FrameBuffering.newest, .lossless])
  func `five hundred starts and endings at random points leave nothing behind`(
    buffering: FrameBuffering
  ) async {
    var random = SplitMix64(seed: 7)
    let shared = PaintedFrames.shared(
      Array(repeating: .part(1, 2000), count: 7), playCount: .indefinite, keeping: 0)
    for round in 0..<500 {
      let ending = Ending.allCases[round % Ending.allCases.count]
      let frameLimit = Int.random(in: 0...3, using: &random)
      let spins = Int.random(in: 0...2000, using: &random)
      await play(shared, buffering, ending: ending, after: frameLimit, spins: spins)
    }
    await shared.live.reach(.nothing)
    for kind in LiveObjects.Kind.allCases { #expect(shared.live.count(kind) == 0, "\(kind)") }
  }

  @Test func `a frame that is dropped while its turn comes is counted until nothing runs`() async {
    let live = LiveObjects()
    let threads = DecodeThreads(count: 1)
    let lane = DecodeLane(threads: threads, openingThreads: threads, live: live) {
      () throws(AnimatedImageError) in PaintedFrames()
    }
    var random = SplitMix64(seed: 7)
    for _ in 0..<4000 {
      var ticket: FrameTicket? = FrameTicket(index: 0, live: live)
      if let ticket { lane.enqueue(ticket) }
      for _ in 0..<Int.random(in: 0...2000, using: &random) {}
      ticket = nil
      await live.reach(.nothing)
      #expect(LiveObjects.Kind.allCases.allSatisfy { live.count($0) == 0 })
    }
  }

  private func play(
    _ shared: SharedFrames, _ buffering: FrameBuffering, ending: Ending, after frameLimit: Int,
    spins: Int
  ) async {
    var scheduler: FrameScheduler? = FrameScheduler(
      sharing: shared, options: PlaybackOptions(delayPolicy: .exact, buffering: buffering))
    let (reached, continuation) = AsyncStream.makeStream(of: Void.self)
    let started = scheduler.map { scheduler in
      consume(scheduler.play().stream, frameLimit: frameLimit, leaves: ending == .leave) {
        continuation.yield()
      }
    }
    guard let consumer = started else { return }
    for await _ in reached { break }
    // In debug builds, which tests are, nothing removes an empty loop.
    for _ in 0..<spins {}
    switch ending {
    case .stop: scheduler?.stop()
    case .cancel: consumer.cancel()
    case .leave: break
    case .dropScheduler:
      // The stream keeps it, until the consumer lets go of that too.
      scheduler = nil
      consumer.cancel()
    case .control:
      scheduler?.rate = 3
      scheduler?.pause()
      scheduler?.direction = .backward
      scheduler?.resume()
      _ = try? scheduler?.seek(toFrame: 5)
      scheduler?.stop()
    }
    await consumer.value
    guard let state = await scheduler?.waitUntilEnded() else { return }
    #expect(state == (ending == .stop || ending == .control ? .stopped : .cancelled))
  }

  /// Takes frames in a task of its own, which is all that holds the stream.
  private func consume(
    _ stream: AsyncStream<ScheduledFrame>, frameLimit: Int, leaves: Bool,
    whenReached: @escaping @Sendable () -> Void
  ) -> Task<Void, Never> {
    Task {
      var count = 0
      if frameLimit == 0 { whenReached() }
      for await _ in stream {
        count += 1
        if count == frameLimit { whenReached() }
        if leaves, count >= frameLimit { break }
      }
    }
  }
}
