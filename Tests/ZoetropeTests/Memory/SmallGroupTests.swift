import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeFrames

/// A budget larger than what the control group has room for.
@Suite(.timeLimit(.minutes(10))) struct SmallGroupTests {
  @Test func `a cache that fills its group between two checks stops short of the limit`() async {
    let group = Group(limit: 64 << 20)
    let budget = group.budget(of: 1 << 30)
    let cache = MemoryFrameCache(budget: budget)
    cache.storeIfPossible(bitmap, for: makeAnimation(1)[0])
    // The watch, which this has started, has taken its first look and sleeps.
    await group.clock.waitForSleepers(count: 1)
    for index in 1..<1000 {
      cache.storeIfPossible(bitmap, for: makeAnimation(1)[index])
      #expect(group.usage <= group.limit)
    }
    // The clock has stood still since then, so only the stores themselves have checked.
    #expect(budget.effectiveLimit <= 56 << 20 && cache.statistics.byteCount > 40 << 20)
    #expect(cache.statistics.rejections == 0 && budget.pressure == .none)
    await group.end()
  }

  @Test func `memory that the rest of the process takes is released within a tenth of a second`()
    async
  {
    let group = Group(limit: 64 << 20)
    let budget = group.budget(of: 1 << 30)
    let cache = MemoryFrameCache(budget: budget)
    for index in 0..<200 { cache.storeIfPossible(bitmap, for: makeAnimation(1)[index]) }
    let full = cache.statistics.byteCount
    await group.clock.waitForSleepers(count: 1)
    group.others = 30 << 20
    // The first pause is a whole one when the group was found roomy before it was filled.
    await group.look(after: .seconds(1))
    #expect(cache.statistics.byteCount < 28 << 20)
    group.others = 60 << 20
    await group.look(after: .milliseconds(100))
    #expect(cache.statistics.byteCount == 0)
    cache.storeIfPossible(bitmap, for: makeAnimation(1)[0])
    #expect(cache.statistics.rejections == 1)
    // Nothing is held, but the group is still checked, or the budget would stay narrow forever.
    group.others = 0
    await group.look(after: .seconds(1))
    for index in 0..<200 { cache.storeIfPossible(bitmap, for: makeAnimation(1)[index]) }
    #expect(cache.statistics.byteCount >= full - (4 << 20) && group.usage <= group.limit)
    await group.end()
  }

  @Test func `a held animation keeps its two frames where there is no room at all`() async {
    let group = Group(limit: 64 << 20)
    group.others = 64 << 20
    let budget = group.budget(of: 1 << 30)
    let cache = MemoryFrameCache(budget: budget)
    let hold = cache.hold(makeAnimation(1))
    for index in 0..<20 { cache.storeIfPossible(bitmap, for: makeAnimation(1)[index]) }
    // A watch that has yet to begin would widen the budget until its first look.
    await group.clock.waitForSleepers(count: 1)
    #expect(cache.statistics.count == 2)
    hold.end()
    #expect(cache.statistics.count == 0)
    await group.end()
  }

  @Test func `without a watch, or after it has ended, the budget is whole`() async {
    let group = Group(limit: 64 << 20)
    let budget = group.budget(of: 1 << 30)
    let cache = MemoryFrameCache(budget: budget)
    for index in 0..<200 { cache.storeIfPossible(bitmap, for: makeAnimation(1)[index]) }
    #expect(budget.effectiveLimit < 64 << 20)
    // A watch that has yet to begin would take back what the look below finds.
    await group.clock.waitForSleepers(count: 1)
    budget.watchesPressure = false
    #expect(budget.effectiveLimit == 1 << 30)
    let watch = PressureWatch(isEnabled: false, clock: group.clock) {
      MemoryReading(fullStall: 50, usage: 50 << 20, limit: 64 << 20)
    }
    watch.poll(budget)
    #expect(budget.pressure == .severe && budget.effectiveLimit < 64 << 20)
    await group.end()
    #expect(budget.pressure == .none && budget.effectiveLimit == 1 << 30)
  }

  @Test func `pressure ends with the watch, and is found again by the next one`() async {
    let group = Group(limit: 64 << 20)
    let budget = group.budget(of: 1 << 30)
    group.stall = 50
    let cache = MemoryFrameCache(budget: budget)
    for index in 0..<200 { cache.storeIfPossible(bitmap, for: makeAnimation(1)[index]) }
    await group.clock.waitForSleepers(count: 1)
    #expect(budget.pressure == .severe)
    budget.watchesPressure = false
    #expect(budget.pressure == .none && budget.effectiveLimit == 1 << 30)
    budget.watchesPressure = true
    await group.look(after: .seconds(1))
    #expect(budget.pressure == .severe)
    // What the caller has set is another matter.
    budget.pressure = .some
    group.stall = 0
    budget.watchesPressure = false
    #expect(budget.pressure == .some)
    await group.end()
  }

  @Test(arguments: [-20 << 20, 20 << 20])
  func `what is stored or given up while memory is read does not widen the room`(change: Int) {
    let budget = MemoryBudget(byteLimit: 1 << 30)
    budget.charge(30 << 20, as: .frames)
    let reading = budget.fit {
      defer { budget.charge(change, as: .frames) }
      return MemoryReading(usage: budget.byteCount, limit: 64 << 20)
    }
    #expect(reading.room == 26 << 20)
    #expect(budget.effectiveLimit == min(30 << 20, (30 << 20) + change) + (26 << 20))
    #expect(budget.effectiveLimit <= 56 << 20)
  }

  @Test func `room is an eighth short of the limit, and 64 MiB at most`() {
    #expect(MemoryReading().room == nil)
    #expect(MemoryReading(usage: 10, limit: 80).room == 60)
    #expect(MemoryReading(usage: 75, limit: 80).room == -5)
    #expect(MemoryReading(usage: 75, limit: 80, filePages: 20).room == 15)
    #expect(MemoryReading(usage: 1 << 30, limit: 64 << 30).room == (63 << 30) - (64 << 20))
  }

  private let bitmap = makeBitmap(512, 512)

  /// A control group that holds the budget and `others`, and a clock that nobody but the test moves.
  private final class Group: Sendable {
    let limit: Int
    let clock = ManualClock()
    private let held = Mutex<MemoryBudget?>(nil)
    private let taken = Atomic<Int>(0)
    private let looks = Tally()

    init(limit: Int) { self.limit = limit }

    /// Per cent of the time in which all tasks wait for memory.
    var stall: Int {
      get { stalls.load(ordering: .relaxed) }
      set { stalls.store(newValue, ordering: .relaxed) }
    }
    private let stalls = Atomic<Int>(0)

    var others: Int {
      get { taken.load(ordering: .relaxed) }
      set { taken.store(newValue, ordering: .relaxed) }
    }
    var usage: Int { others + (held.withLock { $0 }?.byteCount ?? 0) }

    func budget(of byteLimit: Int) -> MemoryBudget {
      let watch = PressureWatch(clock: clock) { [weak self] in
        guard let self else { return MemoryReading() }
        defer { looks.add() }
        return MemoryReading(fullStall: Double(stall), usage: usage, limit: limit)
      }
      let budget = MemoryBudget(byteLimit: byteLimit, watch: watch)
      held.withLock { $0 = budget }
      return budget
    }

    /// Lets the watch's task end.
    func end() async {
      let budget = held.withLock { $0.take() }
      budget?.watchesPressure = false
      await eventually {
        clock.advance(by: .seconds(1))
        return budget?.isWatching != true
      }
    }

    /// Lets `time` pass, and waits until the watch has checked and sleeps again.
    func look(after time: Duration) async {
      await clock.waitForSleepers(count: 1)
      let before = looks.count
      clock.advance(by: time)
      await looks.reach(before + 1)
      await clock.waitForSleepers(count: 1)
    }
  }
}
