import Glibc
import Zoetrope

/// How late frames are, beside a plain thread that sleeps with `clock_nanosleep`, in one run.
enum Lateness {
  private static let interval = 20_000_000

  static func measure(seconds: Int) async throws {
    let image = try TestAnimation.image()
    let count = seconds * 50
    let shared = SharedFrames(image)
    let scheduler = FrameScheduler(
      sharing: shared, options: PlaybackOptions(playCount: .indefinite, recordsTrace: true))
    async let reference = sleepPlainly(count: count)
    let clock = ContinuousClock()
    var start: ContinuousClock.Instant?
    var received = Samples()
    for await frame in scheduler.frames() {
      let now = clock.now
      let origin = start ?? now.advanced(by: .zero - frame.presentationTime)
      start = origin
      received.append(origin.advanced(by: frame.presentationTime).duration(to: now))
      if received.values.count >= count { break }
    }
    let plain = await reference
    var yielded = Samples()
    for entry in scheduler.trace.entries { yielded.append(.nanoseconds(entry.lateness)) }
    let statistics = scheduler.statistics
    print("clock_nanosleep \(plain.summary) slope_us_per_s=\(plain.slope(interval: 0.02))")
    print("scheduler       \(yielded.summary) slope_us_per_s=\(yielded.slope(interval: 0.02))")
    print("consumer        \(received.summary) (from the first frame's arrival)")
    print("statistics      \(statistics)")
  }

  /// The reference: absolute deadlines, nothing else to do.
  private static func sleepPlainly(count: Int) async -> Samples {
    await withCheckedContinuation { continuation in
      NativeThread.start {
        var samples = Samples()
        var deadline = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
        for _ in 0..<count {
          deadline.tv_nsec += interval
          if deadline.tv_nsec >= 1_000_000_000 {
            deadline.tv_nsec -= 1_000_000_000
            deadline.tv_sec += 1
          }
          while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nil) != 0 {}
          var now = timespec()
          unsafe clock_gettime(CLOCK_MONOTONIC, &now)
          let late = (now.tv_sec - deadline.tv_sec) * 1_000_000_000 + now.tv_nsec - deadline.tv_nsec
          samples.append(microseconds: Double(late) / 1000)
        }
        continuation.resume(returning: samples)
      }
    }
  }
}
