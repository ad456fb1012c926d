import TestRunning
import Testing
import ZoetropeTestSupport

@testable import Zoetrope
@testable import ZoetropeCore
@testable import ZoetropeFrames

@Suite(.timeLimit(.minutes(10))) struct StreamLoadingTests {
  private let budget = MemoryBudget(byteLimit: 8 << 20)
  private let cache: MemoryFrameCache
  private let loader: FrameLoader
  private let bytes = DeltaGIF.make(width: 32, height: 24, frameCount: 12, patch: 6)
  private let image: AnimatedImage

  init() throws {
    cache = MemoryFrameCache(budget: budget)
    loader = FrameLoader(
      cache: cache, budget: budget, playback: .everyFrame, clock: ManualClock(.jumping))
    image = try AnimatedImage(bytes: bytes)
  }

  /// The bytes before frame `index`, and one of its own.
  private func bytes(before index: Int) -> [UInt8] {
    Array(bytes[...image.frames[index].byteRange.lowerBound])
  }

  @Test func `the poster and the player are there before the end`() async throws {
    let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
    var phases = loader.phases(for: 1) { chunks }.makeAsyncIterator()
    #expect(await phases.next()?.isLoading == true)
    producer.yield(bytes(before: 1))
    let poster = try #require(await phases.next()?.poster)
    #expect(poster == (try FrameReader(image).frame(at: 0).bitmap))
    producer.yield(Array(bytes(before: 3).dropFirst(bytes(before: 1).count)))
    let player = try #require(await phases.next()?.scheduler)
    #expect(await phases.next() == nil)
    var frames = player.play().makeAsyncIterator()
    for index in 0..<3 { #expect(try await frames.next()?.index == index) }
    producer.yield(Array(bytes.dropFirst(bytes(before: 3).count)))
    producer.finish()
    for index in 3..<12 { #expect(try await frames.next()?.index == index) }
  }

  @Test func `loads of one name share one stream and its poster`() async throws {
    let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
    let opened = Tally()
    let open: @Sendable () async throws -> AsyncStream<[UInt8]> = {
      opened.add()
      return chunks
    }
    var first = loader.phases(for: 1, chunks: open).makeAsyncIterator()
    #expect(await first.next()?.isLoading == true)
    producer.yield(bytes(before: 1))
    let poster = try #require(await first.next()?.poster)
    // The second is shown the poster that is cached under the provisional identity.
    var second = loader.phases(for: 1, chunks: open).makeAsyncIterator()
    #expect(await second.next()?.poster?.storage === poster.storage)
    producer.yield(Array(bytes.dropFirst(bytes(before: 1).count)))
    producer.finish()
    #expect(await first.next()?.scheduler != nil)
    #expect(await second.next()?.scheduler != nil)
    #expect(opened.count == 1)
  }

  @Test func `a complete image is kept under the identity of its bytes`() async throws {
    let bytes = bytes
    let opened = Tally()
    for await phase in loader.phases(
      for: 1,
      chunks: {
        opened.add()
        return Self.sequence([bytes])
      })
    {
      guard let player = phase.scheduler else { continue }
      for try await frame in player.play() where frame.index == 11 { break }
    }
    await eventually { cache.statistics.count == 1 }
    let key = AnimationKey(
      content: ContentIdentity(of: bytes),
      rendition: Rendition(Rendering(), of: image.canvasSize, options: .init()))[0]
    await eventually { cache.bitmap(for: key) != nil }
    let again = await names(loader.phases(for: 1) { Self.sequence([[UInt8]]()) })
    #expect(again == ["poster", "playing"])
    // Other names with these bytes find it too.
    let other = await names(loader.phases(for: 2) { _ in bytes })
    #expect(other.last == "playing" && opened.count == 1)
    #expect(cache.faults() == [])
  }

  @Test func `a stream that ends early is played, and forgotten`() async throws {
    struct Outage: Error {}
    let start = bytes(before: 2)
    let opened = Tally()
    let open: @Sendable () async throws -> AsyncThrowingStream<[UInt8], any Error> = {
      opened.add()
      let (chunks, producer) = AsyncThrowingStream.makeStream(of: [UInt8].self)
      producer.yield(start)
      producer.finish(throwing: Outage())
      return chunks
    }
    for number in 1...2 {
      var count = 0
      for await phase in loader.phases(for: 1, chunks: open) {
        guard let player = phase.scheduler else { continue }
        for try await frame in player.play() {
          count = max(count, frame.index + 1)
          if frame.play > 0 { break }
        }
      }
      #expect(count == 2 && opened.count == number)
      await eventually { cache.statistics.count == 0 }
    }
  }

  @Test func `a stream that fails before its first frame is a failure`() async throws {
    struct Outage: Error {}
    let failed = await phases(
      loader.phases(for: 1) { () async throws -> AsyncStream<[UInt8]> in throw Outage() })
    #expect(failed.last?.error?.code == .io)
    #expect(failed.last?.error?.detail.contains("Outage") == true)
    let empty = await phases(loader.phases(for: 1) { Self.sequence([[UInt8]]()) })
    #expect(empty.last?.error?.code == .truncated)
    let start = Array(bytes(before: 0))
    let cut = await phases(loader.phases(for: 1) { Self.sequence([start]) })
    #expect(cut.last?.error != nil)
    #expect(loader.loadCount == 0)
  }

  @Test func `a cancellation that is not that of the load is a failure`() async throws {
    let fetched = await phases(loader.phases(for: 1) { _ in throw CancellationError() })
    #expect(fetched.last?.error?.code == .io)
    let shared = await phases(
      loader.phases(for: 2) { _ in throw AnimatedImageError(.cancelled, "elsewhere") })
    #expect(shared.last?.error?.code == .io)
    let opened = await phases(
      loader.phases(for: 3) { () async throws -> AsyncStream<[UInt8]> in throw CancellationError() }
    )
    #expect(opened.last?.error?.code == .io)
    // A stream that has shown something ends as one that failed, not as one that was stopped.
    let (chunks, producer) = AsyncThrowingStream.makeStream(of: [UInt8].self)
    producer.yield(bytes(before: 2))
    let stream = try await StreamedImage(chunks)
    producer.finish(throwing: CancellationError())
    #expect(await stream.waitUntilEnded()?.error?.code == .io)
    let error = await #expect(throws: AnimatedImageError.self) { try await stream.bitmap(at: 5) }
    #expect(error?.code == .io)
    // Nobody but the user cancels this one.
    let (others, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self)
    let open = Task { try await StreamedImage(others) }
    open.cancel()
    let stopped = await #expect(throws: AnimatedImageError.self) { _ = try await open.value }
    #expect(stopped?.code == .cancelled)
    continuation.finish()
  }

  @Test func `a stream that is not complete is not said to be`() async throws {
    for (count, isComplete) in [(bytes.count, true), (bytes(before: 2).count, false)] {
      let part = Array(bytes[..<count])
      let source = LoadSource.stream { options in
        try await StreamedImage(Self.sequence([part]), options: options)
      }
      let opened = try await source.open(options: .init(), budget: budget) { _ in }
      #expect(opened.isComplete == isComplete)
    }
  }

  @Test func `a load of the same name in the slot takes over the arriving image`() async throws {
    let slot = LoadSlot()
    let opened = Tally()
    let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
    let open: @Sendable () async throws -> AsyncStream<[UInt8]> = {
      opened.add()
      return chunks
    }
    var phases = loader.phases(for: 1, in: slot, chunks: open)
    producer.yield(bytes(before: 1))
    for await phase in phases where phase.poster != nil { break }
    // The first load has left its phases, and each of the others replaces the one before it at once.
    for _ in 0..<50 { phases = loader.phases(for: 1, in: slot, chunks: open) }
    producer.yield(Array(bytes.dropFirst(bytes(before: 1).count)))
    producer.finish()
    #expect(await names(phases).last == "playing")
    #expect(opened.count == 1)
  }

  @Test func `a name that is forgotten while its stream opens is opened again`() async throws {
    let (started, gate) = (TaskGate(), TaskGate())
    let (old, new) = (DeltaGIF.make(width: 5, height: 4, frameCount: 2), bytes)
    let first = loader.phases(for: 1) {
      started.open()
      await gate.wait()
      return Self.sequence([old])
    }
    await started.wait()
    // Another name has nothing to do with it.
    await loader.forget(2)
    await loader.forget(1)
    let second = await phases(loader.phases(for: 1) { Self.sequence([new]) })
    #expect(second.compactMap(\.poster).last?.size == image.canvasSize)
    gate.open()
    #expect(await phases(first).compactMap(\.poster).last?.size == PixelSize(width: 5, height: 4))
  }

  @Test func `cancelling the slot ends the arriving image`() async throws {
    let slot = LoadSlot()
    let ended = TaskGate()
    let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
    producer.onTermination = { _ in ended.open() }
    var phases = loader.phases(for: 1, in: slot) { chunks }.makeAsyncIterator()
    producer.yield(bytes(before: 1))
    while let phase = await phases.next(), phase.poster == nil {}
    slot.cancel()
    await ended.wait()
  }

  @Test func `leaving the phases and the player ends the stream`() async throws {
    let ended = TaskGate()
    let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
    producer.onTermination = { _ in ended.open() }
    producer.yield(bytes(before: 2))
    do {
      var player: FrameScheduler?
      for await phase in loader.phases(for: 1, chunks: { chunks }) { player = phase.scheduler }
      var frames = try #require(player).play().makeAsyncIterator()
      #expect(try await frames.next()?.index == 0)
    }
    await ended.wait()
    await eventually { cache.statistics.count == 0 }
  }

  @Test func `a still image ends with its poster and is found again`() async throws {
    let still = DeltaGIF.make(width: 8, height: 8, frameCount: 1)
    let first = await names(loader.phases(for: 1) { Self.sequence([still]) })
    #expect(first == ["loading", "poster"])
    let bitmap = try FrameReader(AnimatedImage(bytes: still)).frame(at: 0).bitmap
    let again = await phases(loader.phases(for: 1) { Self.sequence([still]) })
    #expect(again.compactMap(\.poster).first == bitmap)
  }

  private static func sequence(_ chunks: [[UInt8]]) -> AsyncStream<[UInt8]> {
    AsyncStream { continuation in
      for chunk in chunks { continuation.yield(chunk) }
      continuation.finish()
    }
  }

  private func phases(_ phases: AsyncStream<LoadingPhase>) async -> [LoadingPhase] {
    await phases.reduce(into: []) { $0.append($1) }
  }

  private func names(_ stream: AsyncStream<LoadingPhase>) async -> [String] {
    await phases(stream).map { phase in
      if phase.isLoading { return "loading" }
      if phase.poster != nil { return "poster" }
      return phase.scheduler == nil ? "failed" : "playing"
    }
  }
}

extension LoadingPhase {
  fileprivate var isLoading: Bool { if case .loading = self { true } else { false } }
  fileprivate var poster: Bitmap? { if case .poster(let bitmap) = self { bitmap } else { nil } }
  fileprivate var scheduler: FrameScheduler? {
    if case .playing(let scheduler) = self { scheduler } else { nil }
  }
  fileprivate var error: AnimatedImageError? {
    if case .failed(let error) = self { error } else { nil }
  }
}
