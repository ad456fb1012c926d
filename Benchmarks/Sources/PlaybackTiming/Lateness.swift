import Zoetrope
import ZoetropeTestSupport

/// Compares how late frames are with the wake-ups of a plain thread that sleeps with `clock_nanosleep`, in one run.
enum Lateness {
  private static let rate = 50
  private static let interval = 1_000_000_000 / rate

  /// - Parameter isBusy: Whether another thread keeps one core busy meanwhile.
  static func measure(seconds: Int, isBusy: Bool) async throws {
    let image = try TestAnimation.image()
    let count = seconds * rate
    let load = BusyThread(isRunning: isBusy)
    let scheduler = FrameScheduler(
      image, options: PlaybackOptions(playCount: .indefinite, recordsTrace: true))
    async let reference = sleepPlainly(count: count)
    let received = await Task.detached { await consume(scheduler.play().stream, count: count) }
      .value
    let plain = await reference
    load.stop()
    let yielded = Samples(values: scheduler.trace.lateness.map { $0 / .microseconds(1) })
    print("one core busy=\(isBusy) seconds=\(seconds) (times in us, slopes in us per s)")
    for (name, samples) in [
      ("clock_nanosleep", plain), ("scheduler      ", yielded), ("consumer       ", received),
    ] {
      print(
        name, samples.summary, "slope=\(rounded(samples.robustSlope(rate: rate)))",
        "least_squares=\(rounded(samples.slope(interval: 1 / Double(rate))))")
    }
    let over = { (part: Double) in Int(yielded.quantile(part) - plain.quantile(part)) }
    print("scheduler over clock_nanosleep p50=\(over(0.5)) p99=\(over(0.99))")
    print(scheduler.statistics)
  }

  private static func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }

  /// Returns how late frames reach the consumer, relative to the arrival of the first one.
  private static func consume(_ frames: AsyncStream<ScheduledFrame>, count: Int) async -> Samples {
    var start: ContinuousClock.Instant?
    var received = Samples()
    for await frame in frames {
      let now = ContinuousClock.now
      let origin = start ?? now.advanced(by: .zero - frame.presentationTime)
      start = origin
      received.append(origin.advanced(by: frame.presentationTime).duration(to: now))
      if received.values.count >= count { break }
    }
    return received
  }

  /// Measures the reference: a thread that sleeps to absolute deadlines and does nothing else.
  private static func sleepPlainly(count: Int) async -> Samples {
    await withCheckedContinuation { continuation in
      NativeThread.start {
        var samples = Samples()
        var pace = Pace(interval: interval)
        for _ in 0..<count { samples.append(microseconds: pace.sleep()) }
        continuation.resume(returning: samples)
      }
    }
  }
}
