import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeRemote

/// What remote and streamed images keep is in the budget.
@Suite(.timeLimit(.minutes(10)), .computes) struct RemoteMemoryTests {
  private static let film = DeltaGIF.make(width: 200, height: 100, frameCount: 40, patch: 60)

  @Test func `bytes of remote images are charged, dropped on demand and read again`() async throws {
    let budget = MemoryBudget(byteLimit: 64 << 20)
    let whole = try AnimatedImage(bytes: Self.film)
    do {
      let image = try await RemoteImage(reading: CountedRanges(Self.film), budget: budget)
      for index in 0..<40 { _ = try await image.bitmap(at: index) }
      #expect(image.fetcher.cache.byteCount == Self.film.count)
      await image.randomAccessFrames.waitUntilIdle()
      await eventually { budget.used(for: .images) == Self.film.count }
      budget.removeAll()
      #expect(budget.byteCount == 0 && image.fetcher.cache.byteCount == 0)
      let again = try await image.bitmap(at: 39)
      #expect(again == (try await whole.bitmap(at: 39)))
      #expect(budget.used(for: .images) > 0)
      // Nearly nothing may be kept, and every frame can still be read.
      budget.byteLimit = 1000
      for index in [3, 30, 31, 0] {
        #expect(try await image.bitmap(at: index) == whole.bitmap(at: index))
      }
      await eventually { budget.used(for: .images) <= 250 }
    }
    await eventually { budget.byteCount == 0 }
  }

  @Test func `the bytes of a stream are charged as long as an image has them`() async throws {
    let budget = MemoryBudget(byteLimit: 64 << 20)
    var core = Optional(StreamCore(options: .init(), storage: .init(), budget: budget))
    _ = try await core?.receive(Self.film)
    core?.settle(nil)
    var image = core?.settled
    #expect(image?.frames.count == 40)
    let charged = budget.used(for: .images)
    #expect(charged > Self.film.count / 2)
    core = nil
    #expect(budget.used(for: .images) == charged)
    image = nil
    #expect(budget.used(for: .images) == 0)
  }

  @Test func `many remote images share one budget`() async throws {
    let budget = MemoryBudget(byteLimit: 4 * Self.film.count)
    var images: [RemoteImage] = []
    for _ in 0..<12 {
      let image = try await RemoteImage(reading: CountedRanges(Self.film), budget: budget)
      _ = try await image.bitmap(at: 39)
      images.append(image)
    }
    await eventually { budget.used(for: .images) <= Self.film.count }
    #expect(images.reduce(0) { $0 + $1.fetcher.cache.byteCount } <= Self.film.count)
    #expect(images[11].fetcher.cache.byteCount > images[0].fetcher.cache.byteCount)
  }

  @Test func `if a request costs nothing, few ranges are read at a time`() async throws {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 2, height: 1, palette: GIFPalette([.black, .black]))
    for _ in 0..<500 {
      gif.comment([0x61])
      gif.frame(GIFFrame(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), indices: [0]))
    }
    gif.trailer()
    let clock = ManualClock()
    let ranges = CountedRanges(gif.bytes, clock: clock)
    let image = try await RemoteImage(
      reading: ranges, index: ImageIndex(of: AnimatedImage(bytes: gif.bytes)),
      remoteOptions: RemoteOptions(readAheadByteCount: 0, gapByteLimit: 0))
    #expect(image.byteRanges(forFrame: 499).count > 400)
    let most = Mutex(0)
    let driver = Task {
      while !Task.isCancelled {
        await clock.waitForSleepers(count: 1)
        most.withLock { $0 = max($0, image.fetcher.flightCount) }
        clock.advance(by: .milliseconds(50))
      }
    }
    _ = try await image.bitmap(at: 499)
    driver.cancel()
    // Those of one request, and what is read ahead of the next.
    let limit = RangeFetcher.mostReads + 1
    #expect(most.withLock { (1...limit).contains($0) })
  }

  @Test func `a range with many gaps is read in one piece`() async throws {
    let ranges = CountedRanges([UInt8](repeating: 7, count: 10_000))
    let cache = ByteRangeCache()
    for start in stride(from: 0, to: 10_000, by: 100) {
      cache.set(Array(repeating: 7, count: 50), at: start)
    }
    let fetcher = RangeFetcher(ranges, cache: cache)
    #expect(try await fetcher.bytes(in: 0..<10_000) == ranges.bytes)
    #expect(ranges.reads == [50..<10_000])
  }

  @Test func `a stream keeps in memory what the budget has room for`() async throws {
    let bytes = DeltaGIF.make(width: 400, height: 300, frameCount: 120, patch: 150)
    let whole = try AnimatedImage(bytes: bytes)
    for (byteLimit, most) in [(64 << 20, bytes.count), (4 << 20, 5 << 18)] {
      let budget = MemoryBudget(byteLimit: byteLimit)
      do {
        let chunks = AsyncStream<[UInt8]> { producer in
          for start in stride(from: 0, to: bytes.count, by: 1 << 15) {
            producer.yield(Array(bytes[start..<min(start + 1 << 15, bytes.count)]))
          }
          producer.finish()
        }
        let image = try await StreamedImage(chunks, budget: budget)
        #expect(await image.waitUntilEnded() == .complete)
        let received = image.core.received
        #expect(received.residentByteCount <= most)
        #expect(received.residentByteCount + received.spilledByteCount == bytes.count)
        let charged = budget.used(for: .images)
        // Charged in steps of 64 KiB.
        let uncharged = received.residentByteCount - charged
        #expect(uncharged >= 0 && uncharged < 1 << 16)
        let shared = SharedFrames(image)
        for index in [0, 60, 119, 5] {
          #expect(try await shared.frame(at: index).bitmap == whole.bitmap(at: index))
        }
        // Nobody plays: what a decoding position holds is charged, and given back on demand.
        await shared.waitUntilIdle()
        #expect(budget.used(for: .checkpoints) > 0)
        budget.removeAll()
        #expect(budget.used(for: .checkpoints) == 0)
        #expect(try await shared.frame(at: 70).bitmap == whole.bitmap(at: 70))
      }
      await eventually { budget.used(for: .images) == 0 }
    }
  }
}
