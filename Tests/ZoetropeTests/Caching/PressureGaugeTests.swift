import Testing
import Zoetrope

@Suite(.timeLimit(.minutes(1))) struct PressureGaugeTests {
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

  @Test func `counters count only when they grow`() {
    var gauge = PressureGauge()
    #expect(gauge.update(MemoryReading(highEvents: 5, maxEvents: 1)) == .none)
    #expect(gauge.update(MemoryReading(highEvents: 6, maxEvents: 1)) == .some)
    #expect(gauge.update(MemoryReading(highEvents: 6, maxEvents: 2)) == .severe)
  }

  @Test func `a fall takes ten calm readings a level`() {
    var gauge = PressureGauge()
    _ = gauge.update(MemoryReading(someStall: 50, fullStall: 50))
    var levels: [MemoryPressure] = []
    for _ in 0..<21 { levels.append(gauge.update(MemoryReading(someStall: 0, fullStall: 0))) }
    #expect(levels[8] == .severe && levels[9] == .some)
    #expect(levels[18] == .some && levels[19] == .none && levels[20] == .none)
  }

  @Test func `the monitor narrows the budget and widens it again`() async {
    let bitmap = makeBitmap()
    let budget = MemoryBudget(byteLimit: 8 * bitmap.cost)
    let cache = MemoryFrameCache(budget: budget)
    for index in 0..<8 { cache.store(bitmap, for: makeAnimation(1)[index]) }
    let calm = Tally()
    let monitor = MemoryPressureMonitor(budget) {
      MemoryReading(someStall: 0, fullStall: calm.count == 0 ? 80 : 0)
    }
    #expect(await monitor.poll() == .severe)
    #expect(cache.statistics.count == 1)
    calm.add()
    for _ in 0..<20 { await monitor.poll() }
    #expect(budget.effectiveLimit == budget.byteLimit)
  }
}
