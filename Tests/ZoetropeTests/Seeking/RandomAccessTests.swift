import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct RandomAccessTests {
  private static let count = 120
  private let bytes = DeltaGIF.make(width: 64, height: 48, frameCount: count, patch: 9)
  private let expected: [Bitmap]
  private let canvasCost = 64 * 48 * 4

  init() throws {
    let reader = FrameReader(try AnimatedImage(bytes: bytes))
    var bitmaps: [Bitmap] = []
    while let frame = try reader.next() { bitmaps.append(frame.bitmap) }
    expected = bitmaps
  }

  @Test(arguments: [true, false])
  func `bitmaps asked for in any order are those of a play`(isCached: Bool) async throws {
    let budget = MemoryBudget(byteLimit: 1 << 20)
    let image = try AnimatedImage(bytes: bytes).charged(to: budget)
    let cache = isCached ? MemoryFrameCache(budget: budget) : nil
    var random = SplitMix64(seed: 3)
    var orders = Array((0..<Self.count).reversed()) + [0, 1, 2, 119]
    orders += (0..<200).map { _ in Int.random(in: 0..<Self.count, using: &random) }
    for index in orders {
      #expect(try await image.bitmap(at: index, cache: cache) == expected[index], "frame \(index)")
      #expect(budget.byteCount <= 1 << 20)
    }
  }

  @Test func `after one play a jump decodes a bounded number of frames and steps about one`()
    async throws
  {
    let source = CountingSource(bytes)
    // A quarter of it, 40 canvases, may be spent on checkpoints.
    let budget = MemoryBudget(byteLimit: 160 * canvasCost)
    let image = try source.open().charged(to: budget).spacingCheckpointsEvenly(in: budget)
    for index in 0..<Self.count { _ = try await image.bitmap(at: index, cache: nil) }
    #expect(source.count == Self.count)
    let longest = image.longestReplay
    #expect(longest <= 12)
    for step in 0..<200 {
      let before = source.count
      _ = try await image.bitmap(at: step * 37 % Self.count, cache: nil)
      #expect(source.count - before <= longest)
    }
    _ = try await image.bitmap(at: Self.count - 1, cache: nil)
    let before = source.count
    for index in (0..<Self.count - 1).reversed() {
      #expect(try await image.bitmap(at: index, cache: nil) == expected[index])
    }
    #expect(source.count - before <= 2 * Self.count)
  }

  @Test func `a bitmap that is in the cache is not decoded again`() async throws {
    let source = CountingSource(bytes)
    let image = try source.open()
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 64 << 20))
    let first = try await image.bitmap(at: 40, cache: cache)
    let reads = source.count
    let again = try await image.bitmap(at: 40, cache: cache)
    #expect(again.storage === first.storage)
    let other = try await AnimatedImage(bytes: bytes).bitmap(at: 40, cache: cache)
    #expect(other.storage === first.storage)
    #expect(source.count == reads)
    #expect(cache.statistics.hits == 2)
  }

  @Test func `fifty tasks that want one bitmap decode it once`() async throws {
    let gate = Gate(closed: [0])
    let source = CountingSource(bytes) { _ in gate.pass(0) }
    let image = try source.open()
    try await withThrowingTaskGroup(of: Bitmap.self) { group in
      for _ in 0..<50 { group.addTask { try await image.bitmap(at: 0, cache: nil) } }
      await image.waitForAskers(50)
      gate.open(0)
      for try await bitmap in group { #expect(bitmap == expected[0]) }
    }
    #expect(source.count == 1)
  }

  @Test func `cancelling ends a replay within a frame and leaves the reader fit for use`()
    async throws
  {
    let gate = Gate(closed: [0])
    let reached = TaskGate()
    let source = CountingSource(bytes) { number in
      if number == 30 {
        reached.open()
        gate.pass(0)
      }
    }
    // What the reader keeps must not go when memory gets short beside other tests.
    let image = try source.open().charged(to: MemoryBudget(byteLimit: 64 * canvasCost))
    let task = Task { try await image.bitmap(at: 100, cache: nil) }
    await reached.wait()
    task.cancel()
    let result = await task.result
    #expect(
      throws: AnimatedImageError(.cancelled, "stopped while waiting for a frame", frameIndex: 100)
    ) {
      try result.get()
    }
    gate.open(0)
    #expect(try await image.bitmap(at: 31, cache: nil) == expected[31])
    #expect(source.count == 32)
  }

  @Test func `memory of random access is charged, and released on demand and with the image`()
    async throws
  {
    let budget = MemoryBudget(byteLimit: 64 * canvasCost)
    do {
      let image = try AnimatedImage(bytes: bytes).charged(to: budget)
      _ = try await image.bitmap(at: 100, cache: nil)
      #expect(budget.used(for: .checkpoints) >= 2 * canvasCost)
      budget.byteLimit = 0
      #expect(budget.byteCount == 0)
      #expect(try await image.bitmap(at: 99, cache: nil) == expected[99])
      #expect(budget.byteCount == 0)
      budget.byteLimit = 64 * canvasCost
      #expect(try await image.bitmap(at: 20, cache: nil) == expected[20])
      #expect(budget.byteCount > 0)
      await image.waitUntilIdle()
    }
    await eventually { budget.byteCount == 0 }
  }

  @Test func `an index that is not there is refused`() async throws {
    let image = try AnimatedImage(bytes: bytes)
    for index in [-1, Self.count, .max] {
      await #expect {
        try await image.bitmap(at: index, cache: nil)
      } throws: {
        ($0 as? AnimatedImageError)?.code == .parameter
      }
    }
  }

  @Test
  func
    `a player going back decodes about as often as one going on, and keeps no checkpoint before`()
    async throws
  {
    let source = CountingSource(bytes)
    let budget = MemoryBudget(byteLimit: 160 * canvasCost)
    let image = try source.open().charged(to: budget)
    let shared = SharedFrames(image)
    for index in 0..<Self.count { _ = try await shared.frame(at: index) }
    _ = try await shared.frame(at: 0)
    #expect(source.count == Self.count + 1)
    // The two frames kept for others and the canvas that it stands on, but no checkpoint.
    #expect(budget.byteCount == 3 * canvasCost)
    // The first way back replays everything, once.
    for play in 0..<3 {
      let before = source.count
      for index in (0..<Self.count).reversed() {
        #expect(try await shared.frame(at: index).bitmap == expected[index])
      }
      #expect(source.count - before <= 2 * Self.count, "\(source.count - before) in play \(play)")
    }
  }

  @Test func `a replay starts at a cached frame when the next one is drawn on that`() async throws {
    let source = CountingSource(bytes)
    let image = try source.open()
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 64 << 20))
    // Frame 50 stays on the canvas; 49 is taken back after it was shown.
    #expect(image.frames[50].disposal == .keep && image.frames[49].disposal == .previous)
    let filler = try AnimatedImage(bytes: bytes)
    for index in [49, 50] { _ = try await filler.bitmap(at: index, cache: cache) }
    #expect(try await image.bitmap(at: 52, cache: cache) == expected[52])
    #expect(source.count == 2)
    cache.removeAll()
    _ = try await filler.bitmap(at: 49, cache: cache)
    let second = CountingSource(bytes)
    #expect(try await second.open().bitmap(at: 51, cache: cache) == expected[51])
    #expect(second.count == 52)
  }

  @Test func `frames and checkpoints share a budget and each keeps a part`() async throws {
    let budget = MemoryBudget(byteLimit: 40 * canvasCost)
    let image = try AnimatedImage(bytes: bytes).charged(to: budget)
      .spacingCheckpointsEvenly(in: budget)
    for index in 0..<Self.count { _ = try await image.bitmap(at: index, cache: nil) }
    #expect(budget.used(for: .checkpoints) >= budget.byteLimit / 2 - canvasCost)
    let cache = MemoryFrameCache(budget: budget)
    for index in 0..<Self.count {
      _ = try await image.bitmap(at: index * 37 % Self.count, cache: cache)
      #expect(budget.byteCount <= budget.byteLimit)
    }
    #expect(budget.used(for: .checkpoints) >= budget.byteLimit / 2 - canvasCost)
    #expect(cache.statistics.byteCount >= budget.byteLimit / 2 - 2 * canvasCost)
  }

  @Test func `a second scheduler with the same cache decodes nothing`() async throws {
    let source = CountingSource(bytes)
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 64 << 20))
    let image = try source.open()
    var options = PlaybackOptions.everyFrame
    options.fixedDelay = .zero
    options.playCount = .once
    for _ in 0..<2 {
      var shown = 0
      let scheduler = FrameScheduler(image, options: options, cache: cache)
      for await frame in scheduler.play().stream {
        #expect(frame.bitmap == expected[frame.index])
        shown += 1
      }
      #expect(shown == Self.count && scheduler.state == .finished)
      #expect(source.count == Self.count)
    }
  }
}

extension AnimatedImage {
  /// The image, whose checkpoints do not depend on how long frames take: one that waits for a processor would seem
  /// expensive.
  fileprivate func spacingCheckpointsEvenly(in budget: MemoryBudget) -> AnimatedImage {
    state.useCheckpoints(CheckpointStore(for: self, budget: budget, isMeasuring: false))
    return self
  }

  /// The most frames that are drawn to reach one of them.
  fileprivate var longestReplay: Int { state.checkpoints(of: self).longestReplay }

  /// Returns when nothing is decoded for it any more.
  fileprivate func waitUntilIdle() async { await state.frames(of: self).waitUntilIdle() }

  /// Waits until `count` tasks wait for one frame.
  fileprivate func waitForAskers(_ count: Int) async {
    let frames = state.frames(of: self)
    await eventually { frames.waiterCount(for: 0) >= count }
  }
}
