import Glibc
import Synchronization
import SystemPackage
import Testing
import Zoetrope
import ZoetropeTestSupport

/// What players of the same bytes share beside pixels, and what they must not wait for.
@Suite(.timeLimit(.minutes(1))) struct SharedWorkTests {
  private let budget = MemoryBudget(byteLimit: 8 << 20)

  @Test func `a second player of a broken file reports the damage that the first one found`()
    async throws
  {
    let cache = MemoryFrameCache(budget: budget)
    let image = try Self.brokenImage()
    var reports: [[Damage?]] = []
    for _ in 0..<2 {
      let shared = SharedFrames(try Self.brokenImage(), cache: cache, budget: budget)
      var report: [Damage?] = []
      for index in image.frames.indices { report.append(try await shared.frame(at: index).damage) }
      reports.append(report)
    }
    #expect(cache.statistics.hits >= image.frames.count)
    #expect(reports[0].contains { $0 != nil } && reports[0] == reports[1])
  }

  @Test func `stopping a player that reads its file's bytes for the first time ends the reading`()
    async throws
  {
    let bytes = DeltaGIF.make(width: 8, height: 8, frameCount: 2, patch: 2)
    let source = EndlessSource(bytes)
    let image = try AnimatedImage(source: source, options: .init())
    source.startsHashing()
    let shared = SharedFrames(image, cache: MemoryFrameCache(budget: budget), budget: budget)
    let scheduler = FrameScheduler(sharing: shared)
    let consumer = Task { for await _ in scheduler.frames().stream {} }
    await source.reading()
    scheduler.stop()
    // Read to its end, the source would have this wait for 2⁵⁵ bytes.
    await shared.idle()
    await consumer.value
    #expect(scheduler.state == .stopped)
  }

  @Test func `frames are decoded while all threads that load files are busy`() async throws {
    let gate = Gate(closed: [0])
    let entered = Tally()
    let image = try AnimatedImage(
      bytes: DeltaGIF.make(width: 8, height: 8, frameCount: 4, patch: 2))
    let loads = Task {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<16 {
          group.addTask {
            await DecodeThreads.loading.result {
              entered.add()
              gate.pass(0)
            }
          }
        }
      }
    }
    await entered.reach(2)
    for index in 0..<4 { #expect(try await SharedFrames(image).frame(at: index).index == index) }
    gate.open(0)
    await loads.value
  }

  @Test func `images of files stay on the shelf when others give their bytes back`() throws {
    let path = FilePath("/tmp/zoetrope-shelf-\(getpid())-\(UInt64.random(in: 0 ... .max))")
    defer { _ = unsafe path.withPlatformString { unsafe unlink($0) } }
    do {
      let bytes = DeltaGIF.make(width: 40, height: 40, frameCount: 20, patch: 20)
      let file = try FileDescriptor.open(
        path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
      try file.closeAfter { _ = try file.writeAll(bytes) }
      let shelf = ImageShelf(budget: budget)
      shelf.put(try AnimatedImage(contentsOf: path), for: LoadIdentifier("file"))
      shelf.put(try AnimatedImage(bytes: bytes), for: LoadIdentifier("bytes"))
      #expect(budget.used(for: .images) == bytes.count)
      #expect(shelf.shed(.max) == bytes.count)
      #expect(shelf.image(for: LoadIdentifier("file")) != nil)
      #expect(shelf.image(for: LoadIdentifier("bytes")) == nil)
      #expect(budget.used(for: .images) == 0 && shelf.shed(.max) == 0)
    }
  }

  /// An animation with damaged data in a frame.
  private static func brokenImage() throws -> AnimatedImage {
    try AnimatedImage(bytes: FixtureLibrary().file("Bad/crc-fdat.png"))
  }
}

/// A small image that, once it is opened, seems to be followed by more bytes than anybody can read.
private final class EndlessSource: ByteSource {
  private let memory: MemorySource
  private let state = Mutex(State())
  private struct State {
    var isEndless = false
    var readCount = 0
    var waiter: CheckedContinuation<Void, Never>?
  }

  init(_ bytes: [UInt8]) { memory = MemorySource(bytes) }

  var byteCount: Int { state.withLock { $0.isEndless } ? 1 << 55 : memory.byteCount }
  var currentStamp: FileStamp? { nil }
  var isUnchanged: Bool { true }

  func startsHashing() { state.withLock { $0.isEndless = true } }

  /// Returns when some of it was read.
  func reading() async {
    await withCheckedContinuation { continuation in
      let isReading = state.withLock { state in
        if state.readCount == 0 { state.waiter = continuation }
        return state.readCount > 0
      }
      if isReading { continuation.resume() }
    }
  }

  func withBytes<Result>(
    in range: Range<Int>, buffer: inout ReadBuffer,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    let waiter = state.withLock { state in
      guard state.isEndless else { return nil as CheckedContinuation<Void, Never>? }
      state.readCount += 1
      return state.waiter.take()
    }
    waiter?.resume()
    return try memory.withBytes(in: range, buffer: &buffer, body)
  }
}
