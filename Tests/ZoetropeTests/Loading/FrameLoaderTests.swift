import Glibc
import Synchronization
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

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

  @Test func `fifty loads of one name fetch once`() async {
    let fetches = Tally()
    let gate = TaskGate()
    let bytes = bytes
    await withTaskGroup(of: [String].self) { group in
      for _ in 0..<50 {
        let phases = loader.phases(for: "a") { _ in
          fetches.add()
          await gate.wait()
          return bytes
        }
        group.addTask { await collect(phases).names }
      }
      await gate.waiters(count: 1)
      gate.open()
      for await names in group { #expect(names.suffix(2) == ["poster", "playing"]) }
    }
    #expect(fetches.count == 1)
  }

  @Test func `no more fetches run at one time than allowed`() async {
    let gate = TaskGate()
    let bytes = bytes
    let running = Tally()
    await withTaskGroup(of: [String].self) { group in
      for id in 0..<8 {
        let phases = loader.phases(for: id) { _ in
          running.add()
          await gate.wait()
          return bytes
        }
        group.addTask { await collect(phases).names }
      }
      // All eight have asked, and two of them fetch.
      await eventually { loader.loadCount == 8 }
      await gate.waiters(count: 2)
      #expect(running.count == 2)
      gate.open()
      for await names in group { #expect(names.last == "playing") }
    }
    #expect(running.count == 8)
  }

  @Test func `another name in the slot ends the first load and cancels its fetch`() async {
    let slot = LoadSlot()
    let started = TaskGate()
    let cancelled = TaskGate()
    let bytes = bytes
    let first = loader.phases(for: "first", in: slot) { _ in
      started.open()
      await cancellation()
      cancelled.open()
      return bytes
    }
    let task = Task { await collect(first).names }
    await started.wait()
    let second = await collect(loader.phases(for: "second", in: slot) { _ in bytes })
    #expect(second.names == ["loading", "poster", "playing"])
    #expect(await task.value == ["loading"])
    await cancelled.wait()
  }

  @Test func `a load of the same name in the slot joins the fetch`() async {
    let slot = LoadSlot()
    let (started, gate) = (TaskGate(), TaskGate())
    let fetches = Mutex(0)
    let bytes = bytes
    let fetch: FrameLoader.Fetch = { _ in
      fetches.withLock { $0 += 1 }
      started.open()
      await gate.wait()
      return bytes
    }
    loader.prefetch(for: 1, in: slot, data: fetch)
    await started.wait()
    // Dropping this stream would end its load, perhaps before the next one has joined the fetch.
    let replaced = loader.phases(for: 1, in: slot, data: fetch)
    let phases = loader.phases(for: 1, in: slot, data: fetch)
    withExtendedLifetime(replaced) {}
    gate.open()
    #expect(await collect(phases).names.last == "playing")
    #expect(fetches.withLock { $0 } == 1)
  }

  @Test func `a name that is forgotten while it is fetched is fetched again`() async throws {
    let old = DeltaGIF.make(width: 5, height: 4, frameCount: 2)
    let new = DeltaGIF.make(width: 7, height: 6, frameCount: 2)
    let (started, gate) = (TaskGate(), TaskGate())
    let first = Task { [loader] in
      try await loader.bitmap(for: 1) { _ in
        started.open()
        await gate.wait()
        return old
      }
    }
    await started.wait()
    await loader.forget(1)
    let second = try await loader.bitmap(for: 1) { _ in new }
    #expect(second.size == PixelSize(width: 7, height: 6))
    gate.open()
    #expect(try await first.value.size == PixelSize(width: 5, height: 4))
    #expect(loader.loadCount == 0)
    // The late result of the first fetch has not replaced that of the second.
    let third = try await loader.bitmap(for: 1) { _ in [] }
    #expect(third.size == second.size)
    #expect(try await loader.image(for: 1) { _ in [] }.canvasSize == second.size)
  }

  @Test func `forgetting one name leaves the loads of others alone`() async throws {
    let bytes = bytes
    let (started, gate) = (TaskGate(), TaskGate())
    let first = Task { [loader] in
      try await loader.image(for: 1) { _ in
        started.open()
        await gate.wait()
        return bytes
      }
    }
    await started.wait()
    await loader.forget(2)
    gate.open()
    let image = try await first.value
    let again = try await loader.image(for: 1) { _ in [] }
    #expect(again.canvasSize == image.canvasSize)
  }

  @Test func `leaving the loop cancels the fetch`() async {
    let started = TaskGate()
    let ended = TaskGate()
    for await _ in loader.phases(
      for: 1,
      data: { _ in
        started.open()
        await cancellation()
        ended.open()
        return []
      })
    {
      await started.wait()
      break
    }
    await ended.wait()
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

  @Test(.enabled(if: DecodeThreads.processorCount > 1))
  func `a load that begins as another one's fetch ends does not fetch again`() async {
    let held = Gate(closed: [0])
    let looked = TaskGate()
    let cache = HeldUpCache {
      looked.open()
      held.pass(0)
    }
    let loader = FrameLoader(cache: cache, budget: budget)
    let bytes = bytes
    let other = DeltaGIF.make(width: 8, height: 8, frameCount: 1)
    _ = await collect(loader.phases(for: "other") { _ in other })
    let gate = TaskGate()
    let fetches = Tally()
    let fetch: @Sendable (@escaping @Sendable (Double) -> Void) async throws -> [UInt8] = { _ in
      fetches.add()
      await gate.wait()
      return bytes
    }
    let first = loader.phases(for: "a", data: fetch)
    await gate.waiters(count: 1)
    // The known poster of "other" holds the loader up, while the fetch ends and a load comes.
    cache.isHoldingUp = true
    let blocking = loader.phases(for: "other") { _ in other }
    await looked.wait()
    // Several, which come while the fetch ends and after it.
    let others = (0..<20).map { _ in loader.phases(for: "a", data: fetch) }
    gate.open()
    await eventually { loader.loadCount == 0 }
    cache.isHoldingUp = false
    held.open(0)
    for phases in [first, blocking] + others {
      #expect(await collect(phases).names.contains("poster"))
    }
    #expect(fetches.count == 1)
  }

  @Test func `a thousand loads into ten slots end and give everything back`() async {
    let slots = (0..<10).map { _ in LoadSlot() }
    let bytes = bytes
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<1000 {
        let phases = loader.phases(for: number % 13, in: slots[number % 10]) { _ in
          await Task.yield()
          return bytes
        }
        group.addTask {
          let names = await collect(phases).names
          #expect(!names.contains("failed"))
        }
      }
    }
    #expect(cache.faults() == [])
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

  @Test func `a slot cancels what is prefetched into it`() async {
    let slot = LoadSlot()
    let started = TaskGate()
    let ended = TaskGate()
    loader.prefetch(for: 1, in: slot) { _ in
      started.open()
      await cancellation()
      ended.open()
      return []
    }
    await started.wait()
    slot.cancel()
    await ended.wait()
    await eventually { loader.loadCount == 0 }
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

  @Test func `the most urgent load enters first, also one that became urgent by another asker`()
    async throws
  {
    let gate = LoadGate(limit: 1)
    let held = TaskGate()
    let (entered, report) = AsyncStream.makeStream(of: Int.self)
    let urgencies = [TaskPriority.low, .medium, .low, .high].map { LoadUrgency($0) }
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        let place = try? await gate.enter()
        await held.wait()
        withExtendedLifetime(place) {}
      }
      await held.waiters(count: 1)
      for (number, urgency) in urgencies.enumerated() {
        group.addTask {
          let place = try? await gate.enter(urgency)
          report.yield(number)
          withExtendedLifetime(place) {}
        }
        await eventually { gate.waitingCount == number + 1 }
      }
      _ = urgencies[2].raise(to: .userInitiated)
      held.open()
    }
    report.finish()
    #expect(await entered.reduce(into: []) { $0.append($1) } == [2, 3, 1, 0])
    #expect(gate.runningCount == 0)
  }

  @Test func `large files enter one after the other, and none passes by`() async throws {
    let gate = LoadGate(limit: 3) { 100 }
    do {
      var large: LoadPlace? = try await gate.enter(byteCount: 1000)
      async let other = gate.enter(byteCount: 60)
      await eventually { gate.waitingCount == 1 }
      let abandoned = Task { _ = try await gate.enter(byteCount: .max) }
      await eventually { gate.waitingCount == 2 }
      async let small = gate.enter(byteCount: 40)
      await eventually { gate.waitingCount == 3 }
      large = nil
      _ = try await other
      #expect((gate.runningCount, gate.waitingCount) == (1, 2))
      abandoned.cancel()
      // Nobody is in its way any more.
      _ = try await small
      #expect(gate.runningCount == 2)
      await #expect(throws: AnimatedImageError.self) { try await abandoned.value }
      withExtendedLifetime(large) {}
    }
    await eventually { gate.runningCount == 0 }
  }

  @Test(arguments: [true, false])
  func `an opened image keeps its place until its first frame is decoded`(isPlayed: Bool)
    async throws
  {
    let cache = GateWatch()
    let loader = FrameLoader(cache: cache, budget: budget, maxConcurrentLoads: 1)
    cache.gate = loader.gate
    let bytes = bytes
    if isPlayed {
      _ = await collect(loader.phases(for: 1) { _ in bytes })
    } else {
      _ = try await loader.bitmap(for: 1) { _ in bytes }
    }
    #expect(cache.running == [1])
    await eventually { loader.gate.runningCount == 0 }
  }

  /// Notes how many loads are running when a first frame is stored.
  private final class GateWatch: FrameCaching {
    private let state = Mutex((gate: nil as LoadGate?, running: [] as [Int]))
    var gate: LoadGate? {
      get { state.withLock { $0.gate } }
      set { state.withLock { $0.gate = newValue } }
    }
    var running: [Int] { state.withLock { $0.running } }

    func frame(for key: FrameKey) -> CachedFrame? { nil }
    func storeIfPossible(_ frame: CachedFrame, for key: FrameKey) {
      guard key.index == 0 else { return }
      state.withLock { $0.running.append($0.gate?.runningCount ?? 0) }
    }
    func remove(_ content: ContentIdentity) {}
    func removeAll() {}
  }

  private func write(_ bytes: [UInt8], to path: FilePath) throws {
    let file = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
    try file.closeAfter { _ = try file.writeAll(bytes) }
  }
}

/// The phases that one load went through; runs of equal names count once.
private struct SeenPhases: Sendable {
  var names: [String] = []
  var fractions: [Double] = []
  var posters: [Bitmap] = []
  var poster: Bitmap? { posters.last }
  var scheduler: FrameScheduler?
  var error: AnimatedImageError?
}

private func collect(_ phases: AsyncStream<LoadingPhase>) async -> SeenPhases {
  var seen = SeenPhases()
  for await phase in phases {
    if seen.names.last != phase.name { seen.names.append(phase.name) }
    switch phase {
    case .loading(let fraction): if let fraction { seen.fractions.append(fraction) }
    case .poster(let bitmap): seen.posters.append(bitmap)
    case .playing(let scheduler): seen.scheduler = scheduler
    case .failed(let error): seen.error = error
    }
  }
  return seen
}

extension LoadingPhase {
  fileprivate var name: String {
    switch self {
    case .loading: "loading"
    case .poster: "poster"
    case .playing: "playing"
    case .failed: "failed"
    }
  }
}
