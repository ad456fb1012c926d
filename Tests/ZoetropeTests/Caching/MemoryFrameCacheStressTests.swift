import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct MemoryFrameCacheStressTests {
  @Test func `two hundred thousand mixed operations by four tasks keep every invariant`() async {
    let bitmaps = [makeBitmap(8, 4), makeBitmap(16, 16), makeBitmap(40, 30), makeBitmap(64, 64)]
    let budget = MemoryBudget(byteLimit: 2 << 20)
    let cache = MemoryFrameCache(countLimit: 600, budget: budget)
    await withTaskGroup(of: Void.self) { group in
      for seed in 1...4 {
        group.addTask { mix(50_000, seed: UInt64(seed), cache, bitmaps) }
      }
    }
    let statistics = cache.statistics
    #expect(cache.faults() == [])
    #expect(budget.byteCount == statistics.byteCount)
    #expect(statistics.byteCount <= budget.byteLimit)
    #expect(statistics.count <= 600)
    #expect(statistics.hits > 2000 && statistics.evictions > 2000)
    cache.removeAll()
    #expect(budget.byteCount == 0)
  }
}

/// Looks up, stores, holds, releases, removes and changes the budget at random.
private func mix(
  _ count: Int, seed: UInt64, _ cache: MemoryFrameCache, _ bitmaps: [Bitmap]
) {
  var random = SplitMix64(seed: seed)
  var holds: [FrameHold] = []
  for step in 0..<count {
    let key = makeAnimation(Int.random(in: 0..<40, using: &random))[
      Int.random(in: 0..<60, using: &random)]
    switch Int.random(in: 0..<1000, using: &random) {
    case 0..<500: _ = cache.bitmap(for: key)
    case 500..<960: cache.storeIfPossible(bitmaps[key.index % bitmaps.count], for: key)
    case 960..<975: holds.append(cache.hold(key.animation))
    case 975..<992: if let hold = holds.popLast() { hold.end() }
    case 992..<996: cache.remove(key.animation.content)
    case 996:
      cache.budget.pressure = MemoryPressure.allLevels.randomElement(using: &random) ?? .none
    case 997: cache.budget.byteLimit = Int.random(in: 0...(2 << 20), using: &random)
    default: #expect(cache.statistics.count <= cache.countLimit)
    }
    if step % 5000 == 0 { #expect(cache.faults() == []) }
  }
  holds.forEach { $0.end() }
  cache.budget.pressure = .none
  cache.budget.byteLimit = 2 << 20
}
