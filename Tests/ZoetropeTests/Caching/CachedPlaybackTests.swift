import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct CachedPlaybackTests {
  @Test func `a hundred schedulers of different images on a small budget show every frame`()
    async throws
  {
    let budget = MemoryBudget(byteLimit: 2 << 20)
    let cache = MemoryFrameCache(budget: budget)
    var options = PlaybackOptions.everyFrame
    options.fixedDelay = .zero
    options.playCount = .finite(2)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<100 {
        let image = try Self.image(number)
        let shared = SharedFrames(image, cache: cache, budget: budget)
        let scheduler = FrameScheduler(sharing: shared, options: options)
        group.addTask {
          let plain = FrameReader(image)
          var shown = 0
          for await frame in scheduler.play().stream {
            if shown == 12 { plain.rewind() }
            #expect(frame.index == shown % 12)
            let expected = try plain.next()
            #expect(frame.bitmap == expected?.bitmap)
            shown += 1
          }
          #expect(scheduler.state == .finished)
          return shown
        }
      }
      for try await shown in group { #expect(shown == 24) }
    }
    #expect(cache.faults() == [])
  }

  @Test(arguments: [0, 1 << 20, 1 << 30])
  func `players hold the budget plus floors, and find their last two frames whoever else runs`(
    byteLimit: Int
  ) async throws {
    let budget = MemoryBudget(byteLimit: byteLimit)
    let cache = MemoryFrameCache(budget: budget)
    let players = try (0..<100).map { number in
      try Self.image(number).charged(to: budget)
    }
    let arrivals = Tally()
    let floors = Tally()
    let end = TaskGate()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for player in players {
        group.addTask {
          let reader = RenderedReader(player, cache: cache)
          let animation = AnimationKey(
            content: try await player.contentIdentity(), rendition: .canvas(player.canvasSize))
          var last: [Bitmap] = []
          for index in 0..<24 {
            let bitmap = try reader.frame(at: index % 12).bitmap
            last = last.suffix(1) + [bitmap]
            // The floor: the previous frame, and this one last, so that the order of use stays the same.
            for (back, kept) in last.reversed().enumerated().reversed() {
              let found = cache.bitmap(for: animation[(index - back) % 12])
              #expect(found?.storage === kept.storage)
            }
            await Task.yield()
          }
          floors.add(last.reduce(0) { $0 + $1.byteCount })
          // The last one to arrive finds the others waiting, each with its floor.
          if arrivals.add() == 100 {
            let statistics = cache.statistics
            #expect(statistics.heldByteCount == floors.count)
            #expect(statistics.byteCount <= byteLimit || statistics.byteCount == floors.count)
            end.open()
          }
          await end.wait()
          withExtendedLifetime(reader) {}
        }
      }
      try await group.waitForAll()
    }
    let statistics = cache.statistics
    #expect(cache.faults() == [])
    // Each step looks up its frame once, and, except for the first, two more that are cached.
    #expect(statistics.hits + statistics.misses == 100 * (24 + 24 + 23))
    #expect(statistics.hits >= 100 * (24 + 23))
    #expect(statistics.insertions == statistics.misses && statistics.rejections == 0)
    #expect(statistics.insertions - statistics.evictions == statistics.count)
    #expect(statistics.heldByteCount == 0 && statistics.byteCount <= byteLimit)
    #expect(budget.used(for: .frames) == statistics.byteCount)
    if byteLimit < floors.count { #expect(statistics.evictions > 0) }
    if byteLimit == 1 << 30 { #expect(statistics.misses == 100 * 12 && statistics.evictions == 0) }
  }

  /// A hundred different animations of 12 frames.
  private static let files = (0..<100).map {
    DeltaGIF.make(width: 33 + $0, height: 40, frameCount: 12, patch: 8)
  }

  private static func image(_ number: Int) throws -> AnimatedImage {
    try AnimatedImage(bytes: files[number])
  }

  @Test func `a second player of the same bytes decodes nothing`() throws {
    let budget = MemoryBudget(byteLimit: 64 << 20)
    let cache = MemoryFrameCache(budget: budget)
    let bytes = DeltaGIF.make(width: 40, height: 40, frameCount: 30, patch: 8)
    func makeReader() throws -> RenderedReader {
      let image = try AnimatedImage(bytes: bytes)
      let identity = try image.contentIdentity { false }
      #expect(identity == ContentIdentity(of: bytes))
      return RenderedReader(image.charged(to: budget), cache: cache)
    }
    let first = try makeReader()
    let shown = try (0..<30).map { try first.frame(at: $0).bitmap }
    let second = try makeReader()
    for index in (0..<30).reversed() {
      #expect(try second.frame(at: index).bitmap.storage === shown[index].storage)
    }
    #expect(first.decodedCount == 30 && second.decodedCount == 0)
  }

  @Test func `scaling only the dirty part gives the frames of whole scaling`() throws {
    let image = try AnimatedImage(
      bytes: DeltaGIF.make(width: 42, height: 31, frameCount: 40, patch: 9))
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 64 << 20))
    let rendering = Rendering(target: TargetSize(width: 25), filter: .lanczos3, format: .gray8)
    let reader = RenderedReader(
      image.charged(to: cache.budget), rendering: rendering, cache: cache)
    let plain = FrameReader(image)
    for index in Array(0..<40) + [7, 6, 5, 30, 31, 32] {
      let whole = try plain.frame(at: index).bitmap
        .scaled(to: TargetSize(width: 25), filter: .lanczos3).converted(to: .gray8)
      if index == 30 { cache.removeAll() }
      #expect(try reader.frame(at: index).bitmap == whole, "frame \(index)")
    }
  }
}
