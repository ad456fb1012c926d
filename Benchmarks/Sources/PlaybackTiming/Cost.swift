import Glibc
import SystemPackage
import Zoetrope
import ZoetropeTestSupport

/// Compares the processor time of playing with that of decoding the same frames, and with that of the smallest possible
/// player (``MinimalPlayer``).
///
/// The same work takes longer at one frame every 20 ms than back to back, because other programs have used the caches
/// and the core has slept. So decoding is measured both ways.
enum Cost {
  /// The kinds of work that are measured. The raw value is the name in the output.
  enum Work: String, CaseIterable {
    /// Decoding frames back to back, dropping each at once.
    case decode
    /// The scheduler on a clock that does not wait.
    case nowait
    /// A plain thread that decodes one frame every 20 ms.
    case paced
    /// The minimal player, with frames and without.
    case minimal, wakes
    /// The scheduler in real time.
    case play
  }

  static func measure(seconds: Int, files: [String]) async throws {
    for file in files {
      let image = try image(file)
      let count = seconds * 50
      _ = try await run(.decode, image, count: 50)
      // Three interleaved rounds, because the machine's speed changes by the second.
      var rounds: [[Work: Meter.Usage]] = []
      for _ in 0..<3 {
        var round: [Work: Meter.Usage] = [:]
        for work in Work.allCases { round[work] = try await run(work, image, count: count) }
        rounds.append(round)
      }
      report(file, rounds)
    }
  }

  /// Does only one kind of work, to be observed from outside.
  static func measure(_ work: Work, seconds: Int, file: String) async throws {
    let usage = try await run(work, try image(file), count: seconds * 50)
    print(work, "us=\(usage.microseconds) switches=\(usage.switches) faults=\(usage.faults)")
  }

  private static func report(_ file: String, _ rounds: [[Work: Meter.Usage]]) {
    let median = { (value: ([Work: Meter.Usage]) -> Double) in
      Samples(values: rounds.map(value)).quantile(0.5)
    }
    let rounded = { (value: Double) in (value * 100).rounded() / 100 }
    let ratio = { (above: Work, below: Work) in
      rounded(median { ($0[above]?.microseconds ?? 0) / ($0[below]?.microseconds ?? 1) })
    }
    print(FilePath(file).lastComponent?.string ?? file)
    for work in Work.allCases {
      let (time, switches, faults) = (
        median { $0[work]?.microseconds ?? 0 }, median { $0[work]?.switches ?? 0 },
        median { $0[work]?.faults ?? 0 }
      )
      print(
        "  \(work) us=\(rounded(time)) sleeps=\(rounded(switches)) faults=\(rounded(faults))",
        "over_decode=\(ratio(work, .decode))")
    }
    print("  play over paced=\(ratio(.play, .paced)) minimal=\(ratio(.play, .minimal))")
  }

  private static func image(_ file: String) throws -> AnimatedImage {
    if file == "built-in" { return try TestAnimation.image(parallelism: 1) }
    return try AnimatedImage(
      contentsOf: FilePath(file), options: DecodingOptions(parallelism: 1))
  }

  private static func run(_ work: Work, _ image: AnimatedImage, count: Int) async throws
    -> Meter.Usage
  {
    let meter = Meter(skipping: 50)
    let count = count + 50
    switch work {
    case .decode: try decode(image, count: count, meter)
    case .nowait: await play(image, count: count, clock: ManualClock(.jumping), meter)
    case .paced: await decodePaced(image, count: count, meter)
    case .minimal: await MinimalPlayer.play(image, count: count, meter)
    case .wakes: await MinimalPlayer.play(image, count: count, decodes: false, meter)
    case .play: await play(image, count: count, clock: ContinuousClock(), meter)
    }
    return meter.usage
  }

  private static func decode(_ image: AnimatedImage, count: Int, _ meter: Meter) throws {
    let reader = FrameReader(image)
    for _ in 0..<count {
      if try reader.next() == nil {
        reader.rewind()
        _ = try reader.next()
      }
      meter.tick()
    }
  }

  /// Measures the same work on a plain thread, frame by frame, with cold caches and one wake-up.
  private static func decodePaced(
    _ image: AnimatedImage, count: Int, _ meter: Meter
  ) async {
    await withCheckedContinuation { continuation in
      NativeThread.start {
        let reader = FrameReader(image)
        var pace = Pace(interval: 20_000_000)
        for _ in 0..<count {
          pace.sleep()
          if (try? reader.next()) == nil {
            reader.rewind()
            _ = try? reader.next()
          }
          meter.tick()
        }
        continuation.resume()
      }
    }
  }

  private static func play(
    _ image: AnimatedImage, count: Int, clock: some Clock<Duration>, _ meter: Meter
  ) async {
    var options = PlaybackOptions.everyFrame
    options.playCount = .indefinite
    let scheduler = FrameScheduler(image, options: options, clock: clock)
    // Off the main actor, because otherwise every frame would hop to it and back.
    await Task.detached {
      var shown = 0
      for await _ in scheduler.play().stream {
        shown += 1
        meter.tick()
        if shown >= count { break }
      }
    }.value
  }
}
