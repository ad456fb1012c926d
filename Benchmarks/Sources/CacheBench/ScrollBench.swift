import Zoetrope
import ZoetropeTestSupport

/// Compares hit rates, while a list of 50 animations at 200x200 is scrolled within 64 MiB, with those of the best
/// policy for the same requests, pass by pass.
enum ScrollBench {
  private static let count = 50
  private static let limit = 64 << 20
  private static let passes = 5
  private static let rendering = Rendering(
    target: TargetSize(width: 200, height: 200), fit: .fill)

  /// Runs the benchmark. Returns whether the cache reached 0.8 of the best hit rate from the second pass on, in every
  /// way of scrolling.
  static func run() async throws -> Bool {
    var isGood = true
    for (name, frameCount, visible, shown) in [
      ("one-play", 24, 5, 5), ("two-plays", 24, 5, 10), ("part", 60, 4, 5),
      ("many-plays", 12, 6, 12),
    ] {
      let files = (0..<count).map {
        DeltaGIF.make(width: 300 + 2 * $0, height: 280, frameCount: frameCount, patch: 40)
      }
      for turns in [false, true] {
        let list = ScrolledList(
          count: count, visible: visible, frames: shown, passes: passes, turns: turns)
        let ratios = try await run(
          "scroll.\(name).\(turns ? "turning" : "around")", files, frameCount, list)
        if ratios.dropFirst().contains(where: { $0 < 0.8 }) { isGood = false }
      }
    }
    return isGood
  }

  private static func run(
    _ name: String, _ files: [[UInt8]], _ frameCount: Int, _ list: ScrolledList
  ) async throws -> [Double] {
    let budget = MemoryBudget(byteLimit: limit)
    let cache = MemoryFrameCache(budget: budget)
    let images = try files.map { try AnimatedImage(bytes: $0, options: .init(parallelism: 1)) }
    let recorder = RecordingCache(cache)
    let options = PlaybackOptions(
      playCount: .indefinite, fixedDelay: .zero, latePolicy: .stretch, buffering: .lossless,
      decodeAhead: 1)
    var players: [Int: Player] = [:]
    var ends: [(requests: Int, hits: Int)] = []
    for events in list.passes {
      for event in events {
        switch event {
        case .appear(let number):
          let frames = SharedFrames(
            images[number], rendering: rendering, cache: recorder, budget: budget)
          let scheduler = FrameScheduler(sharing: frames, options: options)
          players[number] = Player(
            frames: frames, scheduler: scheduler,
            stream: scheduler.play().stream.makeAsyncIterator())
        case .show(let number):
          var player = players.removeValue(forKey: number)
          _ = await player?.stream.next()
          players[number] = player
        case .vanish(let number):
          let player = players.removeValue(forKey: number)
          player?.scheduler.stop()
          await player?.frames.waitUntilUnused()
        }
      }
      ends.append((recorder.requests.count, cache.statistics.hits))
    }
    let requests = recorder.requests
    let best = BestCache.hits(of: requests, limit: limit) { _ in 200 * 200 * 4 }
    var ratios: [Double] = []
    var begin = (requests: 0, hits: 0)
    for (pass, end) in ends.enumerated() {
      let count = Double(end.requests - begin.requests)
      let found = Double(end.hits - begin.hits)
      let possible = Double(best[begin.requests..<end.requests].count { $0 })
      begin = end
      ratios.append(possible == 0 ? 1 : found / possible)
      for (figure, value) in [
        ("hits", found / count), ("best", possible / count), ("of-best", ratios[pass]),
      ] {
        CacheBench.report("\(name).pass-\(pass + 1).\(figure)", value * 100, "%")
      }
    }
    CacheBench.report(
      "\(name).frames-held", Double(cache.statistics.byteCount) / 1_048_576, "MiB")
    return ratios
  }
}

private struct Player {
  let frames: SharedFrames
  let scheduler: FrameScheduler
  var stream: AsyncStream<ScheduledFrame>.Iterator
}
