import SystemPackage
import Zoetrope

/// Random access and stepping in one file after one play, beside replays from frame 0.
enum SeekBench {
  static func run(_ path: String) throws {
    var options = DecodingOptions()
    options.parallelism = 1
    let image = try AnimatedImage(contentsOf: FilePath(path), options: options)
    let count = image.frames.count
    let budget = MemoryBudget(byteLimit: 256 << 20)
    let store = CheckpointStore(for: image, budget: budget, byteLimit: 64 << 20)
    let reader = SeekingReader(image, store: store)
    let play = try CacheBench.nanoseconds {
      for index in 0..<count { _ = try reader.frame(at: index) }
    }
    let plain = FrameReader(image)
    let plainPlay = try CacheBench.nanoseconds { while try plain.next() != nil {} }
    let forward = try steps(0..<count, reader)
    var generator = Seeded(state: 1)
    let targets = (0..<1000).map { _ in Int(generator.next() % UInt64(count)) }
    let seeks = try targets.map { index in
      try CacheBench.nanoseconds { _ = try reader.frame(at: index) }
    }
    let replays = try targets.prefix(60).map { index in
      plain.rewind()
      return try CacheBench.nanoseconds { for _ in 0...index { _ = try plain.next() } }
    }
    _ = try reader.frame(at: count - 1)
    let back = try steps((0..<count - 1).reversed(), reader)
    let seek = CacheBench.median(seeks)
    let replay = CacheBench.median(Array(replays))
    CacheBench.report("seek.frames", Double(count), "")
    CacheBench.report("seek.checkpoints", Double(store.count), "")
    CacheBench.report("seek.memory", Double(budget.usedBytes) / 1048576, "MiB")
    CacheBench.report("seek.longest-replay", Double(store.longestReplay), "frames")
    CacheBench.report("seek.median", seek / 1000, "us")
    CacheBench.report("seek.p99", seeks.sorted()[990] / 1000, "us")
    CacheBench.report("seek.replay-from-0.median", replay / 1000, "us")
    CacheBench.report("seek.ratio", replay / seek, "x")
    CacheBench.report("step.forward.plain", plainPlay / Double(count) / 1000, "us")
    CacheBench.report("step.forward.first-play", play / Double(count) / 1000, "us")
    CacheBench.report("step.forward.dropped", forward.dropped / 1000, "us")
    CacheBench.report("step.back.dropped", back.dropped / 1000, "us")
    CacheBench.report("step.ratio.dropped", back.dropped / forward.dropped, "x")
    CacheBench.report("step.forward.shown", forward.shown / 1000, "us")
    CacheBench.report("step.back.shown", back.shown / 1000, "us")
    CacheBench.report("step.ratio.shown", back.shown / forward.shown, "x")
  }

  /// Nanoseconds a step: dropping each picture at once, and holding it until the next one is there,
  /// as a screen does, which makes the canvas copy itself.
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

/// A small generator, so that runs repeat: SplitMix64.
private struct Seeded {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
