import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

/// The order in which loads run, and how many run at a time.
@Suite(.timeLimit(.minutes(10))) struct LoadGateTests {
  private let budget = MemoryBudget(byteLimit: 8 << 20)
  private let bytes = DeltaGIF.make(width: 32, height: 24, frameCount: 12, patch: 6)

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
}
