import Glibc
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

/// What loads show, cache and load again.
@Suite(.timeLimit(.minutes(10))) struct FrameLoaderTests {
  private let budget = MemoryBudget(byteLimit: 8 << 20)
  private let cache: MemoryFrameCache
  private let loader: FrameLoader
  private let bytes = DeltaGIF.make(width: 32, height: 24, frameCount: 12, patch: 6)

  init() {
    cache = MemoryFrameCache(budget: budget)
    loader = FrameLoader(
      cache: cache, budget: budget, maxConcurrentLoads: 2,
      playback: PlaybackOptions(fixedDelay: .zero, latePolicy: .stretch, buffering: .lossless))
  }

  @Test func `a first show goes through loading, poster and playing`() async throws {
    let bytes = bytes
    let phases = loader.phases(for: "a") { progress in
      for step in 0...10 { progress(Double(step) / 10) }
      return bytes
    }
    let seen = await collect(phases)
    #expect(seen.names.first == "loading" && seen.names.suffix(2) == ["poster", "playing"])
    #expect(seen.fractions == seen.fractions.sorted() && seen.fractions.last == 1)
    #expect(seen.fractions.count <= 101)
    #expect(
      try #require(seen.poster) == FrameReader(AnimatedImage(bytes: bytes)).frame(at: 0).bitmap)
  }

  @Test func `an opened image is shared by loads of its name until it is forgotten`() async throws {
    let fetches = Tally()
    let bytes = bytes
    for _ in 0..<3 {
      let image = try await loader.image(for: "a") { _ in
        fetches.add()
        return bytes
      }
      #expect(image.frames.count == 12)
      var count = 0
      for try await frame in image.bitmaps(..<3, cache: cache) { count += frame.index }
      #expect(count == 3)
    }
    _ = try await loader.bitmap(for: "a") { _ in
      fetches.add()
      return bytes
    }
    #expect(fetches.count == 1)
    await loader.forget("a")
    _ = try await loader.image(for: "a") { _ in
      fetches.add()
      return bytes
    }
    #expect(fetches.count == 2)
    await #expect(throws: AnimatedImageError.self) {
      try await loader.image(for: "b") { _ in throw Errno.noSuchFileOrDirectory }
    }
  }

  @Test func `playing gives every frame and fills the cache`() async throws {
    let bytes = bytes
    let seen = await collect(loader.phases(for: "a") { _ in bytes })
    let scheduler = try #require(seen.scheduler)
    let reader = FrameReader(try AnimatedImage(bytes: bytes))
    var index = 0
    for await frame in scheduler.play().stream {
      #expect(frame.index == index)
      #expect(try reader.frame(at: index).bitmap == frame.bitmap)
      index += 1
      if index == 12 { break }
    }
    #expect(cache.statistics.count == 12)
  }

  @Test func `a second show starts at once without loading or fetching`() async {
    let fetches = Tally()
    let bytes = bytes
    for _ in 0..<2 {
      let phases = loader.phases(for: 7) { _ in
        fetches.add()
        return bytes
      }
      _ = await collect(phases)
    }
    let seen = await collect(
      loader.phases(for: 7) { _ in
        fetches.add()
        return bytes
      })
    #expect(seen.names == ["poster", "playing"])
    #expect(fetches.count == 1)
  }

  @Test func `a poster shows from the cache while bytes that are gone are fetched again`() async {
    let bytes = bytes
    let gate = TaskGate()
    _ = await collect(loader.phases(for: 1) { _ in bytes })
    budget.byteLimit = 4 * bytes.count - 4
    var iterator = loader.phases(for: 1) { _ in
      await gate.wait()
      return bytes
    }.makeAsyncIterator()
    #expect(await iterator.next()?.name == "poster")
    gate.open()
    #expect(await iterator.next()?.name == "playing")
    #expect(await iterator.next() == nil)
  }

  @Test func `forgotten bytes that changed give a new poster`() async throws {
    let bytes = bytes
    let other = DeltaGIF.make(width: 40, height: 24, frameCount: 1)
    _ = await collect(loader.phases(for: 1) { _ in bytes })
    await loader.forget(1)
    let seen = await collect(loader.phases(for: 1) { _ in other })
    #expect(seen.names == ["loading", "poster"])
    #expect(try #require(seen.poster).width == 40)
  }

  @Test func `an error is a phase of its own and the next load tries again`() async {
    let fault = AnimatedImageError(.io, "made up")
    let failed = await collect(loader.phases(for: 1) { _ in throw fault })
    #expect(failed.names == ["loading", "failed"])
    #expect(failed.error == fault)
    let garbage = await collect(loader.phases(for: 1) { _ in [1, 2, 3] })
    #expect(garbage.error != nil)
    let bytes = bytes
    #expect(await collect(loader.phases(for: 1) { _ in bytes }).names.last == "playing")
  }

  @Test func `frames are scaled and cached at the size asked for`() async throws {
    let bytes = bytes
    let small = Rendering(target: TargetSize(width: 8), format: .bgra8)
    let seen = await collect(loader.phases(for: 1, rendering: small) { _ in bytes })
    let poster = try #require(seen.poster)
    #expect(poster.size == PixelSize(width: 8, height: 6) && poster.format == .bgra8)
    let again = await collect(loader.phases(for: 1, rendering: small) { _ in bytes })
    #expect(again.names == ["poster", "playing"])
    #expect(again.poster?.storage === poster.storage)
  }

  @Test func `a file written anew is opened anew`() async throws {
    let path = FilePath("/tmp/zoetrope-loader-\(getpid())-\(UInt64.random(in: 0 ... .max)).gif")
    defer { _ = unsafe path.withPlatformString { unsafe unlink($0) } }
    try write(bytes, to: path)
    #expect(
      await collect(loader.phases(forFileAt: path)).names == ["loading", "poster", "playing"])
    #expect(await collect(loader.phases(forFileAt: path)).names == ["poster", "playing"])
    try write(DeltaGIF.make(width: 40, height: 24, frameCount: 3), to: path)
    let seen = await collect(loader.phases(forFileAt: path))
    // The old poster is in the cache still, and not shown.
    #expect(seen.names == ["loading", "poster", "playing"])
    #expect(seen.posters.map(\.width) == [40])
  }

  @Test func `a single picture is loaded without phases, and found again`() async throws {
    let bytes = bytes
    let fetches = Tally()
    let small = Rendering(target: TargetSize(width: 8))
    for _ in 0..<2 {
      let bitmap = try await loader.bitmap(for: 1, rendering: small) { _ in
        fetches.add()
        return bytes
      }
      #expect(bitmap.size == PixelSize(width: 8, height: 6))
    }
    #expect(fetches.count == 1)
    let error = await #expect(throws: AnimatedImageError.self) {
      try await loader.bitmap(for: 2) { _ in throw AnimatedImageError(.io, "made up") }
    }
    #expect(error?.code == .io)
    #expect(
      await collect(loader.phases(for: 1, rendering: small) { _ in bytes }).names.first == "poster")
  }

  @Test func `a prefetched image appears immediately`() async {
    let bytes = bytes
    loader.prefetch(for: 1) { _ in bytes }
    await eventually { cache.statistics.count == 1 }
    let seen = await collect(loader.phases(for: 1) { _ in [] })
    #expect(seen.names == ["poster", "playing"])
  }

  @Test func `a load plays with its own options`() async {
    let bytes = bytes
    let options = PlaybackOptions(rate: 3, startIndex: 7)
    let seen = await collect(loader.phases(for: 1, playback: options) { _ in bytes })
    #expect(seen.scheduler?.rate == 3)
  }

  @Test func `a player of a loader takes its time from the loader's clock`() async throws {
    let loader = FrameLoader(
      cache: cache, budget: budget,
      playback: PlaybackOptions(playCount: .once, buffering: .lossless),
      clock: ManualClock(.jumping))
    let bytes = bytes
    let scheduler = try #require(await collect(loader.phases(for: 1) { _ in bytes }).scheduler)
    var count = 0
    for try await _ in scheduler.play() { count += 1 }
    #expect(count == 12)
  }

  private func write(_ bytes: [UInt8], to path: FilePath) throws {
    let file = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
    try file.closeAfter { _ = try file.writeAll(bytes) }
  }
}
