import Glibc
import Zoetrope
import ZoetropeTestSupport

/// The processor time of playing, over that of only decoding the same frames.
enum Cost {
  static func measure(seconds: Int) async throws {
    for parallelism in [1, 0] { try await measure(seconds: seconds, parallelism: parallelism) }
  }

  private static func measure(seconds: Int, parallelism: Int) async throws {
    print("parallelism=\(parallelism)")
    let image = try TestAnimation.image(parallelism: parallelism)
    let count = seconds * 50
    _ = try decode(image, count: 50)
    let decoding = try decode(image, count: count)
    print("decoding              ms=\(decoding / .milliseconds(1)) frames=\(count)")
    let jumping = await play(image, count: count, clock: ManualClock(.jumping))
    print("playing without waits ms=\(jumping / .milliseconds(1)) ratio=\(jumping / decoding)")
    let switches = Resources.switches
    let real = await play(image, count: count, clock: ContinuousClock())
    print("switches per frame    \(Double(Resources.switches - switches) / Double(count))")
    print("playing in real time  ms=\(real / .milliseconds(1)) ratio=\(real / decoding)")
    let paced = try await decodePaced(image, count: count)
    print("decoding, one each 20 ms ms=\(paced / .milliseconds(1)) ratio=\(real / paced)")
    let again = try decode(image, count: count)
    print("decoding again        ms=\(again / .milliseconds(1))")
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
