import Zoetrope
import ZoetropeTestSupport

/// Measures the time from ending a playback until none of it runs and all its memory is released.
enum Cancelling {
  static func measure(rounds: Int) async throws {
    let image = try TestAnimation.image()
    let shared = SharedFrames(image, keeping: 0)
    var random = SplitMix64(seed: 3)
    let clock = ContinuousClock()
    let before = Resources.now
    for way in ["stop", "cancel"] {
      var ended = Samples()
      var idle = Samples()
      for _ in 0..<rounds / 2 {
        let scheduler = FrameScheduler(
          sharing: shared,
          options: PlaybackOptions(playCount: .indefinite, rate: 4, decodeAhead: 4))
        let consumer = consume(scheduler.play().stream)
        let pause = Duration.microseconds(Int.random(in: 0..<20_000, using: &random))
        try await clock.sleep(for: pause, tolerance: .zero)
        let start = clock.now
        if way == "stop" { scheduler.stop() } else { consumer.cancel() }
        _ = await scheduler.waitUntilEnded()
        ended.append(clock.now - start)
        await shared.waitUntilUnused()
        idle.append(clock.now - start)
        await consumer.value
      }
      print("\(way) to end of stream \(ended.summary)")
      print("\(way) to last work     \(idle.summary)")
    }
    print("before \(before)\nafter  \(Resources.now)")
  }

  private static func consume(_ frames: AsyncStream<ScheduledFrame>) -> Task<Void, Never> {
    Task { for await _ in frames {} }
  }
}
