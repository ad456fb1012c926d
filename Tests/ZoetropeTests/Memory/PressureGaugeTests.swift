import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCore
@testable import ZoetropeFrames

@Suite(.timeLimit(.minutes(10))) struct PressureGaugeTests {
  @Test(arguments: [
    (MemoryReading(), MemoryPressure.none),
    (MemoryReading(someStall: 4.9, fullStall: 0), .none),
    (MemoryReading(someStall: 5, fullStall: 0), .some),
    (MemoryReading(someStall: 9, fullStall: 6), .severe),
    (MemoryReading(highEvents: 500, maxEvents: 3), .none),
    (MemoryReading(usage: 96, limit: 100), .some),
    (MemoryReading(usage: 90, limit: 100), .none),
  ])
  func `one reading shows one level`(reading: MemoryReading, expected: MemoryPressure) {
    var gauge = PressureGauge()
    #expect(gauge.update(reading) == expected)
  }

  @Test func `reaching the limit with file pages alone is not a shortage`() {
    var gauge = PressureGauge()
    _ = gauge.update(MemoryReading(maxEvents: 1, usage: 40, limit: 100))
    #expect(gauge.update(MemoryReading(maxEvents: 9, usage: 40, limit: 100)) == .none)
    #expect(gauge.update(MemoryReading(maxEvents: 10, usage: 90, limit: 100)) == .severe)
  }

  @Test func `counters count only when they grow`() {
    var gauge = PressureGauge()
    #expect(gauge.update(MemoryReading(highEvents: 5, maxEvents: 1)) == .none)
    #expect(gauge.update(MemoryReading(highEvents: 6, maxEvents: 1)) == .some)
    #expect(gauge.update(MemoryReading(highEvents: 6, maxEvents: 2)) == .severe)
  }

  @Test func `falling takes ten calm readings per level`() {
    var gauge = PressureGauge()
    _ = gauge.update(MemoryReading(someStall: 50, fullStall: 50))
    var levels: [MemoryPressure] = []
    for _ in 0..<21 { levels.append(gauge.update(MemoryReading(someStall: 0, fullStall: 0))) }
    #expect(levels[8] == .severe && levels[9] == .some)
    #expect(levels[18] == .some && levels[19] == .none && levels[20] == .none)
  }

  @Test func `a budget watches by itself while it holds something`() async {
    let bitmap = makeBitmap(256, 256)
    let clock = ManualClock()
    let calm = Tally()
    let reads = Tally()
    let watch = PressureWatch(clock: clock) {
      reads.add()
      return MemoryReading(someStall: 0, fullStall: calm.count == 0 ? 80 : 0)
    }
    let budget = MemoryBudget(byteLimit: 16 * bitmap.byteCount, watch: watch)
    let cache = MemoryFrameCache(budget: budget)
    for index in 0..<3 { cache.storeIfPossible(bitmap, for: makeAnimation(1)[index]) }
    #expect(!budget.isWatching)
    for index in 3..<16 { cache.storeIfPossible(bitmap, for: makeAnimation(1)[index]) }
    await eventually { cache.statistics.count <= 2 }
    #expect(budget.isWatching && budget.pressure == .severe && cache.statistics.count == 2)
    calm.add()
    for _ in 0..<20 {
      let before = reads.count
      await clock.waitForSleepers(count: 1)
      clock.advance(by: .seconds(1))
      await reads.reach(before + 1)
    }
    await eventually { budget.pressure == .none }
    #expect(budget.effectiveLimit == budget.byteLimit)
    // Two frames are too little to watch over; the next large store begins anew.
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(1))
    await eventually { !budget.isWatching }
    for index in 0..<16 { cache.storeIfPossible(bitmap, for: makeAnimation(2)[index]) }
    #expect(budget.isWatching)
    await clock.waitForSleepers(count: 1)
    budget.watchesPressure = false
    clock.advance(by: .seconds(1))
    await eventually { !budget.isWatching }
  }

  @Test func `a watch that gets no thread starts with a later store`() async {
    let bitmap = makeBitmap(256, 256)
    let clock = ManualClock()
    let threads = Tally()
    let watch = PressureWatch(clock: clock, reading: { MemoryReading() }) { body in
      threads.count > 0 && startThread(running: body)
    }
    let budget = MemoryBudget(byteLimit: 16 * bitmap.byteCount, watch: watch)
    let cache = MemoryFrameCache(budget: budget)
    for index in 0..<8 { cache.storeIfPossible(bitmap, for: makeAnimation(1)[index]) }
    #expect(!budget.isWatching)
    threads.add()
    cache.storeIfPossible(bitmap, for: makeAnimation(1)[8])
    #expect(budget.isWatching)
    await clock.waitForSleepers(count: 1)
    budget.watchesPressure = false
    clock.advance(by: .seconds(1))
    await eventually { !budget.isWatching }
  }

  @Test func `the shared budget watches memory, others only on request`() {
    #expect(MemoryBudget.shared.watchesPressure)
    #expect(!MemoryBudget(byteLimit: 1).watchesPressure)
  }

  @Test func `a watch narrows its budget and widens it again`() {
    let bitmap = makeBitmap()
    let calm = Tally()
    let watch = PressureWatch(isEnabled: false, clock: ContinuousClock()) {
      MemoryReading(someStall: 0, fullStall: calm.count == 0 ? 80 : 0)
    }
    let budget = MemoryBudget(byteLimit: 8 * bitmap.byteCount, watch: watch)
    let cache = MemoryFrameCache(budget: budget)
    for index in 0..<8 { cache.storeIfPossible(bitmap, for: makeAnimation(1)[index]) }
    #expect(watch.poll(budget) == .severe)
    #expect(cache.statistics.count == 1)
    calm.add()
    for _ in 0..<20 { watch.poll(budget) }
    #expect(budget.effectiveLimit == budget.byteLimit)
  }
}
