import Synchronization
import Testing
import Zoetrope
import ZoetropeTestSupport

/// All that is kept is charged to the budget and given back.
@Suite(.timeLimit(.minutes(10))) struct HeldMemoryTests {
  /// Frees nothing at the first call, during which its hold ends and the budget is settled.
  private final class HeldMember: BudgetMember {
    let share = BudgetShare(.frames)
    private let budget: MemoryBudget
    private let isHeld = Atomic<Bool>(true)

    init(budget: MemoryBudget) { self.budget = budget }

    func shed(_ byteCount: Int) -> Int {
      guard isHeld.exchange(false, ordering: .relaxed) else {
        let freed = share.heldBytes
        budget.refundAll(of: share)
        return freed
      }
      budget.settle()
      return 0
    }
  }

  @Test func `memory of a hold that ends during eviction is freed`() {
    let budget = MemoryBudget(byteLimit: 0)
    let member = HeldMember(budget: budget)
    budget.charge(100, to: member)
    budget.settle()
    #expect(budget.byteCount == 0)
    withExtendedLifetime(member) {}
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func
    `after any operations nothing is held once all is idle, and nothing kept once all is removed`(
      seed: UInt64
    ) async throws
  {
    var generator = SplitMix64(seed: seed)
    let budget = MemoryBudget(byteLimit: seed % 2 == 0 ? 256 << 10 : 8 << 20)
    let cache = MemoryFrameCache(budget: budget)
    let images = try (0..<6).map {
      try AnimatedImage(
        bytes: DeltaGIF.make(width: 30 + 8 * $0, height: 40, frameCount: 12, patch: 8)
      ).charged(to: budget)
    }
    var shared: [SharedFrames] = []
    var players: [(scheduler: FrameScheduler, consumer: Task<Void, Never>)] = []
    for _ in 0..<100 {
      let image = images[Int.random(in: 0..<images.count, using: &generator)]
      let index = Int.random(in: 0..<12, using: &generator)
      let some = shared.randomElement(using: &generator)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0:
        shared.append(
          SharedFrames(
            image, rendering: Rendering(target: TargetSize(width: 25)), cache: cache,
            budget: budget))
      case 1: shared.append(SharedFrames(image, cache: cache, budget: budget))
      case 2, 3: _ = try await some?.frame(at: index)
      case 4:
        let call = Task { try? await some?.frame(at: index) }
        call.cancel()
        _ = await call.value
      case 5:
        guard let some else { break }
        let scheduler = FrameScheduler(
          sharing: some,
          options: PlaybackOptions(
            playCount: .indefinite, direction: index < 6 ? .forward : .backward,
            latePolicy: .stretch),
          clock: ManualClock(.jumping))
        let stream = scheduler.play().stream
        players.append(
          (
            scheduler,
            Task {
              var count = 0
              for await _ in stream {
                count += 1
                if count == 15 { break }
              }
            }
          ))
      case 6: try players.randomElement(using: &generator)?.scheduler.seek(toFrame: index)
      case 7: _ = try await image.bitmap(at: index, cache: index % 2 == 0 ? cache : nil)
      case 8: budget.pressure = MemoryPressure.allLevels[index % 3]
      default: players.randomElement(using: &generator)?.scheduler.stop()
      }
    }
    budget.pressure = .none
    for player in players {
      player.scheduler.stop()
      await player.consumer.value
      // A stream that was left says so to its player from a task of its own.
      _ = await player.scheduler.waitUntilEnded()
    }
    for frames in shared { await frames.waitUntilIdle() }
    #expect(cache.faults() == [])
    #expect(cache.statistics.heldByteCount == 0)
    #expect(budget.byteCount <= budget.byteLimit)
    cache.removeAll()
    #expect(cache.statistics.byteCount == 0)
    #expect(budget.byteCount == 0)
    withExtendedLifetime((shared, images, players)) {}
  }

  @Test func `frames that nobody plays give up what they keep when others need it`() async throws {
    let budget = MemoryBudget(byteLimit: 1 << 20)
    let cache = MemoryFrameCache(budget: budget)
    var shared: [SharedFrames] = []
    for number in 0..<40 {
      let bytes = DeltaGIF.make(width: 64 + number, height: 64, frameCount: 4, patch: 8)
      let frames = SharedFrames(
        try AnimatedImage(bytes: bytes), rendering: Rendering(target: TargetSize(width: 100)),
        cache: cache, budget: budget)
      for index in 0..<2 { _ = try await frames.frame(at: index) }
      await frames.waitUntilIdle()
      shared.append(frames)
      #expect(cache.statistics.heldByteCount == 0 && budget.byteCount <= budget.byteLimit)
    }
    budget.removeAll()
    #expect(budget.byteCount == 0)
    // They continue where they were nevertheless.
    for frames in shared { #expect(try await frames.frame(at: 3).index == 3) }
  }

  @Test
  func `readers that went back together hold no more than the budget, and less under pressure`()
    throws
  {
    let budget = MemoryBudget(byteLimit: 800 << 10)
    let bytes = DeltaGIF.make(width: 100, height: 100, frameCount: 60, patch: 30)
    let readers = try (0..<12).map { _ in
      SeekingReader(try AnimatedImage(bytes: bytes).charged(to: budget))
    }
    for reader in readers {
      for index in [59, 58, 57] { _ = try reader.frame(at: index) }
      #expect(budget.byteCount <= budget.byteLimit)
    }
    budget.pressure = .severe
    #expect(budget.byteCount <= budget.byteLimit / 8)
    budget.pressure = .none
    // A trail that is given up midway leaves the pictures as they are.
    let plain = FrameReader(try AnimatedImage(bytes: bytes))
    let expected = try (0..<60).map { try plain.frame(at: $0).bitmap }
    for index in (20..<57).reversed() {
      #expect(try readers[0].frame(at: index).bitmap == expected[index])
      if index % 7 == 0 { budget.removeAll() }
    }
    budget.removeAll()
    #expect(budget.byteCount == 0)
  }

  @Test func `the cost of storing a frame does not grow with the players`() {
    // Asked once for each member that was used, not for each that there is.
    let budget = MemoryBudget(byteLimit: 64 << 10)
    let members = (0..<1000).map { _ in AskedMember(budget) }
    for member in members { member.take(64) }
    let cache = MemoryFrameCache(budget: budget)
    let hold = cache.hold(makeAnimation(1))
    let before = members.reduce(0) { $0 + $1.askedCount }
    for index in 0..<1000 { cache.storeIfPossible(makeBitmap(), for: makeAnimation(1)[index]) }
    let asked = members.reduce(0) { $0 + $1.askedCount } - before
    #expect(asked <= 1000 && budget.byteCount <= budget.byteLimit)
    withExtendedLifetime(hold) {}
  }

  @Test func `a budget that never fills up forgets members that are gone`() {
    let budget = MemoryBudget(byteLimit: 1 << 20)
    let members = (0..<100).map { _ in AskedMember(budget) }
    for member in members { member.take(1) }
    for _ in 0..<10_000 { AskedMember(budget).take(1) }
    #expect(budget.listedCount(for: .checkpoints) <= 400)
    #expect(budget.byteCount == 100)
    budget.removeAll()
    #expect(budget.byteCount == 0 && members.allSatisfy { $0.askedCount > 0 })
  }
}

/// Holds some bytes and counts how often it is asked to give them up.
private final class AskedMember: BudgetMember {
  let share = BudgetShare(.checkpoints)
  private let budget: MemoryBudget
  private let asked = Tally()

  init(_ budget: MemoryBudget) { self.budget = budget }

  deinit { budget.refundAll(of: share) }

  var askedCount: Int { asked.count }

  func take(_ byteCount: Int) { budget.charge(byteCount, to: self) }

  func shed(_ byteCount: Int) -> Int {
    asked.add()
    let freed = share.heldBytes
    budget.refund(freed, of: share)
    return freed
  }
}
