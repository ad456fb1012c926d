import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

/// Loads that share a fetch, replace each other in a slot, or are cancelled.
@Suite(.timeLimit(.minutes(10))) struct LoadSharingTests {
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

  @Test func `fifty loads of one name fetch once`() async {
    let fetch = HeldFetch(bytes: bytes)
    await withTaskGroup(of: [String].self) { group in
      for _ in 0..<50 {
        let phases = loader.phases(for: "a") { _ in await fetch.run() }
        group.addTask { await collect(phases).names }
      }
      await fetch.gate.waiters(count: 1)
      fetch.gate.open()
      for await names in group { #expect(names.suffix(2) == ["poster", "playing"]) }
    }
    #expect(fetch.calls.count == 1)
  }

  @Test func `no more fetches run at one time than allowed`() async {
    let fetch = HeldFetch(bytes: bytes)
    await withTaskGroup(of: [String].self) { group in
      for id in 0..<8 {
        let phases = loader.phases(for: id) { _ in await fetch.run() }
        group.addTask { await collect(phases).names }
      }
      // All eight have asked, and two of them fetch.
      await eventually { loader.loadCount == 8 }
      await fetch.gate.waiters(count: 2)
      #expect(fetch.calls.count == 2)
      fetch.gate.open()
      for await names in group { #expect(names.last == "playing") }
    }
    #expect(fetch.calls.count == 8)
  }

  @Test func `another name in the slot ends the first load and cancels its fetch`() async {
    let slot = LoadSlot()
    let fetch = EndlessFetch()
    let bytes = bytes
    let first = loader.phases(for: "first", in: slot) { _ in await fetch.run() }
    let task = Task { await collect(first).names }
    await fetch.started.wait()
    let second = await collect(loader.phases(for: "second", in: slot) { _ in bytes })
    #expect(second.names == ["loading", "poster", "playing"])
    #expect(await task.value == ["loading"])
    await fetch.ended.wait()
  }

  @Test func `a load of the same name in the slot joins the fetch`() async {
    let slot = LoadSlot()
    let held = HeldFetch(bytes: bytes)
    let fetch: FrameLoader.Fetch = { _ in await held.run() }
    loader.prefetch(for: 1, in: slot, data: fetch)
    await held.started.wait()
    // Dropping this stream would end its load, perhaps before the next one has joined the fetch.
    let replaced = loader.phases(for: 1, in: slot, data: fetch)
    let phases = loader.phases(for: 1, in: slot, data: fetch)
    withExtendedLifetime(replaced) {}
    held.gate.open()
    #expect(await collect(phases).names.last == "playing")
    #expect(held.calls.count == 1)
  }

  @Test func `a name that is forgotten while it is fetched is fetched again`() async throws {
    let fetch = HeldFetch(bytes: DeltaGIF.make(width: 5, height: 4, frameCount: 2))
    let new = DeltaGIF.make(width: 7, height: 6, frameCount: 2)
    let first = Task { [loader] in
      try await loader.bitmap(for: 1) { _ in await fetch.run() }
    }
    await fetch.started.wait()
    await loader.forget(1)
    let second = try await loader.bitmap(for: 1) { _ in new }
    #expect(second.size == PixelSize(width: 7, height: 6))
    fetch.gate.open()
    #expect(try await first.value.size == PixelSize(width: 5, height: 4))
    #expect(loader.loadCount == 0)
    // The late result of the first fetch has not replaced that of the second.
    let third = try await loader.bitmap(for: 1) { _ in [] }
    #expect(third.size == second.size)
    #expect(try await loader.image(for: 1) { _ in [] }.canvasSize == second.size)
  }

  @Test func `forgetting one name leaves the loads of others alone`() async throws {
    let fetch = HeldFetch(bytes: bytes)
    let first = Task { [loader] in
      try await loader.image(for: 1) { _ in await fetch.run() }
    }
    await fetch.started.wait()
    await loader.forget(2)
    fetch.gate.open()
    let image = try await first.value
    let again = try await loader.image(for: 1) { _ in [] }
    #expect(again.canvasSize == image.canvasSize)
  }

  @Test func `leaving the loop cancels the fetch`() async {
    let fetch = EndlessFetch()
    for await _ in loader.phases(for: 1, data: { _ in await fetch.run() }) {
      await fetch.started.wait()
      break
    }
    await fetch.ended.wait()
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
    let other = DeltaGIF.make(width: 8, height: 8, frameCount: 1)
    _ = await collect(loader.phases(for: "other") { _ in other })
    let slow = HeldFetch(bytes: bytes)
    let fetch: FrameLoader.Fetch = { _ in await slow.run() }
    let first = loader.phases(for: "a", data: fetch)
    await slow.gate.waiters(count: 1)
    // The known poster of "other" holds the loader up, while the fetch ends and a load comes.
    cache.isHoldingUp = true
    let blocking = loader.phases(for: "other") { _ in other }
    await looked.wait()
    // Several, which come while the fetch ends and after it.
    let others = (0..<20).map { _ in loader.phases(for: "a", data: fetch) }
    slow.gate.open()
    await eventually { loader.loadCount == 0 }
    cache.isHoldingUp = false
    held.open(0)
    for phases in [first, blocking] + others {
      #expect(await collect(phases).names.contains("poster"))
    }
    #expect(slow.calls.count == 1)
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

  @Test func `a slot cancels what is prefetched into it`() async {
    let slot = LoadSlot()
    let fetch = EndlessFetch()
    loader.prefetch(for: 1, in: slot) { _ in await fetch.run() }
    await fetch.started.wait()
    slot.cancel()
    await fetch.ended.wait()
    await eventually { loader.loadCount == 0 }
  }
}

/// A fetch that is held up until its gate opens.
private struct HeldFetch: Sendable {
  let started = TaskGate()
  let gate = TaskGate()
  let calls = Tally()
  let bytes: [UInt8]

  func run() async -> [UInt8] {
    calls.add()
    started.open()
    await gate.wait()
    return bytes
  }
}

/// A fetch that goes on until it is cancelled.
private struct EndlessFetch: Sendable {
  let started = TaskGate()
  let ended = TaskGate()

  func run() async -> [UInt8] {
    started.open()
    await cancellation()
    ended.open()
    return []
  }
}
