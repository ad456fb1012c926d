import SystemPackage
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct StoredPlaybackTests {
  private let scratch: ScratchDirectory
  private let image: AnimatedImage
  private let rendering = Rendering(target: TargetSize(width: 20, height: 15))

  init() throws {
    scratch = try ScratchDirectory()
    image = try AnimatedImage(bytes: FixtureLibrary().file("Demo/variable-delay.gif"))
  }

  private func makeCache() throws -> MemoryFrameCache {
    MemoryFrameCache(
      budget: MemoryBudget(byteLimit: 8 << 20),
      backing: try FrameStore(at: scratch.path.appending("store")))
  }

  private func decoded() throws -> [CompositedFrame] {
    let reader = RenderedReader(image, rendering: rendering, cache: nil)
    return try image.frames.indices.map { try reader.frame(at: $0) }
  }

  @Test func `what one cache decoded, the next one shows without decoding`() throws {
    let first = RenderedReader(image, rendering: rendering, cache: try makeCache())
    for index in image.frames.indices { _ = try first.frame(at: index) }
    #expect(first.decodedCount >= image.frames.count)
    let cache = try makeCache()
    let second = RenderedReader(image, rendering: rendering, cache: cache)
    for (index, frame) in try decoded().enumerated() {
      let shown = try second.frame(at: index)
      #expect(shown.bitmap == frame.bitmap)
      #expect(shown.damage == frame.damage)
    }
    #expect(second.decodedCount == 0)
    // They lie in the table: none takes memory in the cache.
    #expect(cache.statistics.byteCount == 0)
    #expect(cache.diskStore?.statistics.hits == image.frames.count)
  }

  @Test func `single frames and playback go through the store too`() async throws {
    let expected = try decoded()
    for _ in 0..<2 {
      let cache = try makeCache()
      let bitmap = try await image.bitmap(at: 2, rendering: rendering, cache: cache)
      #expect(bitmap == expected[2].bitmap)
      let shared = SharedFrames(image, rendering: rendering, cache: cache)
      let frame = try await shared.frame(at: 3)
      #expect(frame.bitmap == expected[3].bitmap)
    }
    let cache = try makeCache()
    _ = try await image.bitmap(at: 2, rendering: rendering, cache: cache)
    #expect(cache.diskStore?.statistics.hits == 1)
    #expect(cache.diskStore?.statistics.misses == 0)
  }

  @Test func `removing forgets both levels`() throws {
    let cache = try makeCache()
    let reader = RenderedReader(image, rendering: rendering, cache: cache)
    _ = try reader.frame(at: 0)
    let key = try #require(reader.animation)[0]
    #expect(cache.frame(for: key) != nil)
    cache.remove(key.animation.content)
    #expect(cache.frame(for: key) == nil)
    let other = try makeCache()
    #expect(other.frame(for: key) == nil)
  }
}
