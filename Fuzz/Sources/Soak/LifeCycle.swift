import SystemPackage
import Zoetrope
import ZoetropeTestSupport

/// The life of one player: opened, started, steered, and ended in one of the ways there are.
struct LifeCycle {
  private enum Ending: CaseIterable {
    case stop, cancel, leave, drop, failingSeek
  }

  let seed: UInt64
  let path: String

  /// Gives the number of things that were left when it was over.
  func run() async -> Int {
    var random = SplitMix64(seed: seed)
    guard let image = try? AnimatedImage(contentsOf: FilePath(path)) else { return 1 }
    // Keeps no frame by itself, so that none may be left.
    let shared = SharedFrames(image, keeping: 0)
    let buffering: FrameBuffering = Bool.random(using: &random) ? .newest : .lossless
    let options = PlaybackOptions(
      delayPolicy: .exact, bounces: Bool.random(using: &random), buffering: buffering,
      decodeAhead: Int.random(in: 1...3, using: &random))
    let limit = Int.random(in: 0...5, using: &random)
    let ending = Ending.allCases[Int.random(in: 0..<Ending.allCases.count, using: &random)]
    if Int.random(in: 0..<8, using: &random) == 0 {
      // The real clock: one frame is on time at once, later ones would be waited for.
      await play(
        FrameScheduler(sharing: shared, options: options, clock: ContinuousClock()), 1, ending,
        image.frames.count, random.next())
    } else {
      await play(
        FrameScheduler(sharing: shared, options: options, clock: ManualClock(.jumping)), limit,
        ending, image.frames.count, random.next())
    }
    // Twice: a decode that nobody waits for may hand its frame over, to be dropped, in between.
    await shared.live.reach(.nothing)
    for _ in 0..<100 where Self.count(shared) > 0 {
      await Task.yield()
      await shared.live.reach(.nothing)
    }
    return Self.count(shared)
  }

  private static func count(_ shared: SharedFrames) -> Int {
    LiveObjects.Kind.allCases.reduce(0) { $0 + shared.live.count($1) }
  }

  private func play<C: Clock>(
    _ scheduler: FrameScheduler<C>, _ limit: Int, _ ending: Ending, _ frameCount: Int,
    _ seed: UInt64
  ) async where C.Duration == Duration {
    var random = SplitMix64(seed: seed)
    let seek = Int.random(in: 0...frameCount, using: &random)
    let stream = scheduler.frames()
    let consumer = Task {
      var count = 0
      if limit == 0 { return }
      for await _ in stream {
        count += 1
        if count >= limit { break }
      }
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: scheduler.rate = 2
    case 1:
      scheduler.pause()
      scheduler.resume()
    case 2: try? scheduler.seek(toFrame: seek)
    default: scheduler.direction = .backward
    }
    switch ending {
    case .stop: scheduler.stop()
    case .cancel: consumer.cancel()
    case .leave, .drop: break
    case .failingSeek:
      try? scheduler.seek(toFrame: frameCount + 7)
      scheduler.stop()
    }
    await consumer.value
  }
}
