import Glibc
import Zoetrope
import ZoetropeTestSupport

/// The processor time of playing, over that of only decoding the same frames.
///
/// Two references: frames decoded one after the other, and frames decoded one every 20 ms by a plain
/// thread. The same instructions take longer in the second, for caches have been used by others and
/// the core has slept; playing in real time is to be compared with that.
enum Cost {
  private struct Round {
    var decoding, playing, paced, realTime: Duration
    var switches: Double
  }

  static func measure(seconds: Int) async throws {
    let image = try TestAnimation.image(parallelism: 1)
    let count = seconds * 50
    _ = try decode(image, count: 50)
    // Three interleaved rounds: the machine's speed changes by the second.
    var rounds: [Round] = []
    for _ in 0..<3 {
      let decoding = try decode(image, count: count)
      let playing = await play(image, count: count, clock: ManualClock(.jumping))
      let paced = try await decodePaced(image, count: count)
      let switches = Resources.switches
      let realTime = await play(image, count: count, clock: ContinuousClock())
      rounds.append(
        Round(
          decoding: decoding, playing: playing, paced: paced, realTime: realTime,
          switches: Double(Resources.switches - switches) / Double(count)))
    }
    let median = { (value: (Round) -> Double) in
      Samples(values: rounds.map(value)).quantile(0.5)
    }
    let each = { (value: (Round) -> Duration) in
      Int(median { value($0) / .microseconds(count) })
    }
    print(
      "us a frame: decoding=\(each { $0.decoding }) playing_without_waits=\(each { $0.playing })",
      "decoding_paced=\(each { $0.paced }) playing_in_real_time=\(each { $0.realTime })")
    print("playing without waits / decoding     \(median { $0.playing / $0.decoding })")
    print("playing in real time / decoding paced \(median { $0.realTime / $0.paced })")
    print("playing in real time / decoding       \(median { $0.realTime / $0.decoding })")
    print("decoding paced / decoding             \(median { $0.paced / $0.decoding })")
    print("threads woken for a frame             \(median { $0.switches })")
  }

  private static func decode(_ image: AnimatedImage, count: Int) throws -> Duration {
    let start = Resources.processorTime
    let reader = FrameReader(image)
    for _ in 0..<count where try reader.next() == nil {
      reader.rewind()
      _ = try reader.next()
    }
    return Resources.processorTime - start
  }

  /// What the same work costs a plain thread that does it frame by frame: cold caches, one wake-up.
  private static func decodePaced(_ image: AnimatedImage, count: Int) async throws -> Duration {
    let start = Resources.processorTime
    await withCheckedContinuation { continuation in
      NativeThread.start {
        let reader = FrameReader(image)
        for _ in 0..<count {
          usleep(20_000)
          if (try? reader.next()) == nil {
            reader.rewind()
            _ = try? reader.next()
          }
        }
        continuation.resume()
      }
    }
    return Resources.processorTime - start
  }

  private static func play(
    _ image: AnimatedImage, count: Int, clock: some Clock<Duration>
  ) async -> Duration {
    let start = Resources.processorTime
    var options = PlaybackOptions.everyFrame
    options.playCount = .indefinite
    let scheduler = FrameScheduler(image, options: options, clock: clock)
    // Off the main actor: every frame would cross to it and back.
    await Task.detached {
      var shown = 0
      for await _ in scheduler.frames() {
        shown += 1
        if shown >= count { break }
      }
    }.value
    return Resources.processorTime - start
  }
}
