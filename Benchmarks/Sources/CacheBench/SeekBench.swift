import Zoetrope
import ZoetropeTestSupport

/// Compares random access and stepping in a delta-coded GIF, after one play, with replays from frame 0. Canvases and
/// cached frames share 64 MiB.
enum SeekBench {
  private static let seekCount = 1000
  private static let replayCount = 60

  /// Runs the benchmark on GIFs of 1,000 frames, each of which changes a small part.
  static func run() async throws {
    for (width, height, patch) in [(320, 240, 40), (640, 480, 80)] {
      let bytes = DeltaGIF.make(width: width, height: height, frameCount: 1000, patch: patch)
      try await run("\(width)x\(height)") { options throws(AnimatedImageError) in
        try AnimatedImage(bytes: bytes, options: options)
      }
    }
  }

  /// Runs the benchmark on an image that is reopened for each part, so that no part finds what another one kept.
  static func run(
    _ name: String, open: @Sendable (DecodingOptions) throws(AnimatedImageError) -> AnimatedImage
  ) async throws {
    MemoryBudget.shared.byteLimit = 64 << 20
    let options = DecodingOptions(parallelism: 1)
    MemoryFrameCache.shared.removeAll()
    let image = try open(options)
    let plain = FrameReader(image)
    let count = image.frames.count
    var generator = SplitMix64(seed: 1)
    let targets = (0..<seekCount).map { _ in Int.random(in: 0..<count, using: &generator) }
    let replays = try targets.prefix(replayCount).map { index in
      plain.rewind()
      return try CacheBench.nanoseconds { for _ in 0...index { _ = try plain.next() } }
    }
    let replay = CacheBench.median(replays)
    CacheBench.report("\(name).replay-from-0.median", replay / 1000, "us")
    try seek(name, SeekingReader(try open(options)), count, targets, beside: replay)
    for (kind, cache) in [("bitmap-at", nil), ("bitmap-at-cached", MemoryFrameCache.shared)] {
      MemoryFrameCache.shared.removeAll()
      try await ask("\(name).\(kind)", try open(options), cache, targets, beside: replay)
    }
  }

  private static func seek(
    _ name: String, _ reader: SeekingReader, _ count: Int, _ targets: [Int],
    beside replay: Double
  ) throws {
    for index in 0..<count { _ = try reader.frame(at: index) }
    let forward = try steps(0..<count, reader)
    var decoded = reader.decodes
    let seeks = try targets.map { index in
      try CacheBench.nanoseconds { _ = try reader.frame(at: index) }
    }
    decoded = reader.decodes - decoded
    report("\(name).reader", seeks, beside: replay)
    CacheBench.report("\(name).reader.decoded", Double(decoded) / Double(seekCount), "frames")
    _ = try reader.frame(at: count - 1)
    let back = try steps((0..<count - 1).reversed(), reader)
    for (kind, forward, back) in [
      ("dropped", forward.dropped, back.dropped), ("shown", forward.shown, back.shown),
    ] {
      CacheBench.report("\(name).step.forward.\(kind)", forward / 1000, "us")
      CacheBench.report("\(name).step.back.\(kind)", back / 1000, "us")
      CacheBench.report("\(name).step.ratio.\(kind)", back / forward, "x")
    }
  }

  /// Measures the same through the public call, with its hops between threads.
  private static func ask(
    _ name: String, _ image: AnimatedImage, _ cache: MemoryFrameCache?, _ targets: [Int],
    beside replay: Double
  ) async throws {
    let count = image.frames.count
    let clock = ContinuousClock()
    func time(_ indices: some Sequence<Int>) async throws -> [Double] {
      var times: [Double] = []
      for index in indices {
        let begin = clock.now
        _ = try await image.bitmap(at: index, cache: cache)
        times.append(begin.duration(to: clock.now) / .nanoseconds(1))
      }
      return times
    }
    let forward = try await time(0..<count)
    report(name, try await time(targets), beside: replay)
    _ = try await image.bitmap(at: count - 1, cache: nil)
    let back = try await time((0..<count - 1).reversed())
    let ratio = back.reduce(0, +) / forward.dropLast().reduce(0, +)
    CacheBench.report("\(name).step.ratio", ratio, "x")
    CacheBench.report("\(name).memory", Double(MemoryBudget.shared.byteCount) / 1048576, "MiB")
  }

  private static func report(_ name: String, _ seeks: [Double], beside replay: Double) {
    let seek = CacheBench.median(seeks)
    CacheBench.report("\(name).seek.median", seek / 1000, "us")
    CacheBench.report("\(name).seek.p99", seeks.sorted()[seeks.count * 99 / 100] / 1000, "us")
    CacheBench.report("\(name).seek.ratio", replay / seek, "x")
  }

  /// Measures nanoseconds per step: dropping each picture at once, and keeping it until the next one, as a display
  /// does, which forces a copy of the canvas.
  private static func steps(
    _ indices: some BidirectionalCollection<Int>, _ reader: SeekingReader
  ) throws -> (dropped: Double, shown: Double) {
    let dropped = try CacheBench.nanoseconds {
      for index in indices { _ = try reader.frame(at: index) }
    }
    if let first = indices.first, let last = indices.last, first > last {
      _ = try reader.frame(at: first + 1)
    }
    var shown: CompositedFrame?
    let held = try CacheBench.nanoseconds {
      for index in indices { shown = try reader.frame(at: index) }
    }
    withExtendedLifetime(shown) {}
    return (dropped / Double(indices.count), held / Double(indices.count))
  }
}
