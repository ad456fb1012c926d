import Foundation
import Synchronization
import SystemPackage
import Testing
import Zoetrope
import ZoetropeTestSupport

/// What players of the same bytes share besides pixels, and what they must not wait for.
///
/// One test at a time: some occupy all threads of the process that load files, and two of these would each wait for
/// threads that the other has.
@Suite(.timeLimit(.minutes(10)), .serialized) struct SharedWorkTests {
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
    let consumer = Task { for await _ in scheduler.play().stream {} }
    await source.reading()
    scheduler.stop()
    // If the source were read to its end, this would wait for 2⁵⁵ bytes.
    await shared.waitUntilIdle()
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

  /// Runs `body` while all threads that load files are busy.
  private func whileLoading(_ body: () async throws -> Void) async throws {
    let gate = Gate(closed: [0])
    let entered = Tally()
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
    await entered.reach(4)
    try await body()
    gate.open(0)
    await loads.value
  }

  @Test func `streams are written and end while all threads that load files are busy`() async throws
  {
    try await whileLoading {
      let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
      producer.yield(DeltaGIF.make(width: 8, height: 8, frameCount: 4, patch: 2))
      producer.finish()
      let stream = try await StreamedImage(chunks, storage: StreamStorage(memoryByteLimit: 0))
      #expect(await stream.waitUntilEnded() == .complete)
    }
  }

  @Test func `frames of a known image are looked up while all threads that load files are busy`()
    async throws
  {
    let scratch = try ScratchDirectory()
    let store = try FrameStore(at: scratch.path.appending("store"))
    let image = try AnimatedImage(
      bytes: DeltaGIF.make(width: 8, height: 8, frameCount: 4, patch: 2))
    let expected = try await image.bitmap(at: 1, cache: store)
    try await whileLoading {
      #expect(try await image.bitmap(at: 1, cache: store) == expected)
      _ = try await image.bitmap(at: 2, cache: store)
      let shared = SharedFrames(image, cache: store)
      #expect(try await shared.frame(at: 1).bitmap == expected)
    }
    #expect(store.statistics.hits == 2)
  }

  @Test func `images of files stay on the shelf when others give their bytes back`() throws {
    let path = FilePath("/tmp/zoetrope-shelf-\(getpid())-\(UInt64.random(in: 0 ... .max))")
    defer { _ = unsafe path.withPlatformString { unsafe unlink($0) } }
    do {
      let bytes = DeltaGIF.make(width: 400, height: 300, frameCount: 2, patch: 20)
      let file = try FileDescriptor.open(
        path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
      try file.closeAfter { _ = try file.writeAll(bytes) }
      let shelf = ImageShelf(budget: budget)
      shelf.put(try AnimatedImage(contentsOf: path), for: LoadIdentifier("file"))
      shelf.put(try AnimatedImage(bytes: bytes), for: LoadIdentifier("bytes"))
      let list = budget.used(for: .images) - bytes.count
      #expect(list > 0 && list < bytes.count / 64)
      #expect(shelf.shed(bytes.count) == bytes.count + list / 2)
      #expect(shelf.image(for: LoadIdentifier("file")) != nil)
      #expect(shelf.image(for: LoadIdentifier("bytes")) == nil)
      budget.removeAll()
      #expect(shelf.count == 0 && budget.used(for: .images) == 0 && shelf.shed(.max) == 0)
    }
  }

  @Test func `an image on the shelf is charged what it holds in memory, and given back whole`()
    async
    throws
  {
    let budget = MemoryBudget(byteLimit: 64 << 20)
    let shelf = ImageShelf(budget: budget)
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 1, height: 1, palette: GIFPalette([.black, .black]))
    for _ in 0..<40 { gif.comment(Array(repeating: 0x61, count: 10_000)) }
    for _ in 0..<20_000 {
      gif.frame(GIFFrame(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), indices: [0]))
    }
    gif.trailer()
    let scratch = try ScratchDirectory()
    let path = scratch.path.appending("long.gif")
    try Data(gif.bytes).write(to: URL(filePath: path.string))
    weak var source: FileSource?
    do {
      let image = try AnimatedImage(contentsOf: path)
      source = image.source as? FileSource
      shelf.put(image, for: LoadIdentifier("long"))
    }
    // 56 bytes for each frame, and what random access keeps for it.
    #expect(budget.byteCount >= 400_000 + 20_000 * 56 && budget.byteCount < 3 << 20)
    #expect(source != nil)
    // A quarter of the budget is for images.
    budget.byteLimit = 4 << 20
    #expect(shelf.count == 0 && budget.byteCount == 0 && source == nil)
  }

  @Test func `a settled stream on the shelf costs what it has in memory`() async throws {
    let budget = MemoryBudget(byteLimit: 64 << 20)
    let shelf = ImageShelf(budget: budget)
    let bytes = DeltaGIF.make(width: 400, height: 300, frameCount: 200, patch: 150)
    let chunks = AsyncStream<[UInt8]> { producer in
      producer.yield(bytes)
      producer.finish()
    }
    let stream = try await StreamedImage(
      chunks, storage: StreamStorage(memoryByteLimit: 1 << 18), budget: budget)
    #expect(await stream.waitUntilEnded() == .complete)
    let image = try #require(stream.image)
    shelf.put(image, for: LoadIdentifier("stream"))
    #expect(shelf.share.heldBytes >= 1 << 18 && shelf.share.heldBytes < 1 << 19)
    #expect(bytes.count > 4 << 20)
  }

  @Test func `when descriptors run out, the shelf gives up one idle file after the other`() throws {
    let scratch = try ScratchDirectory()
    let bytes = DeltaGIF.make(width: 8, height: 8, frameCount: 2, patch: 4)
    let shelf = ImageShelf(budget: budget)
    shelf.put(try AnimatedImage(bytes: bytes), for: LoadIdentifier("bytes"))
    for number in 0..<3 {
      let path = scratch.path.appending("\(number).gif")
      try Data(bytes).write(to: URL(filePath: path.string))
      shelf.put(try AnimatedImage(contentsOf: path), for: LoadIdentifier(number))
    }
    for left in (1...3).reversed() {
      #expect(shelf.count == left + 1)
      #expect(shelf.closeIdleFile())
      #expect(shelf.image(for: LoadIdentifier(3 - left)) == nil)
    }
    #expect(!shelf.closeIdleFile() && shelf.image(for: LoadIdentifier("bytes")) != nil)
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
  var residentByteCount: Int { 0 }

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
