import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(1))) struct CachedPlaybackTests {
  @Test(arguments: [(8 << 20, false), (256 << 20, true)])
  func `a hundred players of different images share one budget and all finish`(
    byteLimit: Int, fitsAll: Bool
  ) async throws {
    let budget = MemoryBudget(byteLimit: byteLimit)
    let cache = MemoryFrameCache(budget: budget)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        let image = try AnimatedImage(
          bytes: DeltaGIF.make(width: 33 + number, height: 40, frameCount: 20, patch: 8))
        let shared = SharedFrames(
          image, identity: try image.contentIdentity(), cache: cache, budget: budget)
        group.addTask {
          let plain = FrameReader(image)
          for index in 0..<40 {
            let frame = try await shared.frame(at: index % 20)
            if index == 20 { plain.rewind() }
            let expected = try plain.next()
            #expect(frame.bitmap == expected?.bitmap)
          }
        }
      }
      try await group.waitForAll()
    }
    let statistics = cache.statistics
    #expect(statistics.cost <= budget.byteLimit + statistics.heldCost)
    #expect(cache.faults() == [])
    #expect(statistics.hits + statistics.misses == 4000)
    if fitsAll {
      #expect(statistics.hits == 2000)
      #expect(statistics.evictions == 0)
    } else {
      // How often a frame is still there when it comes round again depends on who runs when.
      #expect(statistics.evictions > 0)
    }
  }

  @Test func `a second player of the same bytes decodes nothing`() throws {
    let budget = MemoryBudget(byteLimit: 64 << 20)
    let cache = MemoryFrameCache(budget: budget)
    let bytes = DeltaGIF.make(width: 40, height: 40, frameCount: 30, patch: 8)
    func makeReader() throws -> CachedFrameReader {
      let image = try AnimatedImage(bytes: bytes)
      let identity = try image.contentIdentity()
      #expect(identity == ContentIdentity(of: bytes))
      return CachedFrameReader(
        OpenedImage(image, identity: identity, cost: 0, budget: budget), cache: cache)
    }
    let first = try makeReader()
    let shown = try (0..<30).map { try first.frame(at: $0).bitmap }
    let second = try makeReader()
    for index in (0..<30).reversed() {
      #expect(try second.frame(at: index).bitmap.storage === shown[index].storage)
    }
    #expect(first.decodedCount == 30 && second.decodedCount == 0)
  }

  @Test func `scaled frames by their dirty part are those of whole scaling`() throws {
    let image = try AnimatedImage(
      bytes: DeltaGIF.make(width: 60, height: 44, frameCount: 40, patch: 9))
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 64 << 20))
    let opened = OpenedImage(
      image, identity: try image.contentIdentity(), cost: 0, budget: cache.budget)
    let rendering = Rendering(target: TargetSize(width: 25), filter: .lanczos3, format: .grey8)
    let reader = CachedFrameReader(opened, rendering: rendering, cache: cache)
    let plain = FrameReader(image)
    for index in Array(0..<40) + [7, 6, 5, 30, 31, 32] {
      let whole = try plain.frame(at: index).bitmap
        .scaled(to: TargetSize(width: 25), filter: .lanczos3).converted(to: .grey8)
      if index == 30 { cache.removeAll() }
      #expect(try reader.frame(at: index).bitmap == whole, "frame \(index)")
    }
  }
}
