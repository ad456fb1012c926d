import Testing
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct ManualClockTests {
  @Test func `sleepers wake when their deadline is reached and not before`() async throws {
    let clock = ManualClock()
    let task = Task {
      try await clock.sleep(until: clock.now.advanced(by: .seconds(2)), tolerance: nil)
      return clock.now.offset
    }
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(1))
    #expect(clock.deadlines.map(\.offset) == [.seconds(2)])
    clock.advance(by: .seconds(1))
    #expect(try await task.value == .seconds(2))
    #expect(clock.deadlines.isEmpty)
  }

  @Test func `cancelling a sleeper wakes it with an error`() async {
    let clock = ManualClock()
    let task = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(2))) }
    await clock.waitForSleepers(count: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.deadlines.isEmpty)
  }

  @Test func `a deadline that has passed needs no sleep`() async throws {
    let clock = ManualClock()
    clock.advance(by: .seconds(1))
    clock.advance(to: ManualClock.Instant(offset: .zero))
    try await clock.sleep(until: ManualClock.Instant(offset: .seconds(1)))
    #expect(clock.now.offset == .seconds(1))
  }

  @Test func `a jumping clock is at every deadline at once`() async throws {
    let clock = ManualClock(.jumping)
    try await clock.sleep(until: ManualClock.Instant(offset: .seconds(3600)))
    #expect(clock.now.offset == .seconds(3600))
  }

  @Test func `a test that waits in vain for sleepers ends when it is cancelled`() async {
    let clock = ManualClock()
    let waits = [
      Task { await clock.waitForSleepers(count: 2) },
      Task { await clock.waitForSleeper(until: .seconds(9)) },
      Task { await clock.waitForSleepers(count: 2, until: .seconds(9)) },
      Task { await clock.advance(by: .seconds(1), stepping: 1) },
    ]
    for wait in waits { wait.cancel() }
    for wait in waits { await wait.value }
    #expect(clock.now.offset == .seconds(1))
  }

  @Test func `sleepers are distinguished by their deadlines`() async throws {
    let clock = ManualClock()
    let task = Task {
      for second in 1...2 { try await clock.sleep(until: .init(offset: .seconds(second))) }
    }
    await clock.waitForSleeper(until: .seconds(1))
    clock.advance(by: .seconds(1))
    await clock.waitForSleeper(until: .seconds(2))
    #expect(clock.deadlines.map(\.offset) == [.seconds(2)])
    clock.advance(by: .seconds(1))
    try await task.value
  }

  @Test func `sleepers with one deadline are counted without those with another`() async throws {
    let clock = ManualClock()
    let tasks = [1, 2, 2].map { second in
      Task { try await clock.sleep(until: .init(offset: .seconds(second))) }
    }
    await clock.waitForSleepers(count: 2, until: .seconds(2))
    #expect(clock.deadlines.count { $0.offset == .seconds(2) } == 2)
    clock.advance(by: .seconds(2))
    for task in tasks { try await task.value }
  }

  @Test func `stepping wakes a sleeper at each of its deadlines`() async throws {
    let clock = ManualClock()
    let woken = Tally()
    let sleepers = (1...2).map { step in
      Task {
        var times: [Duration] = []
        for count in 1...20 {
          try await clock.sleep(until: .init(offset: .seconds(step * count)))
          times.append(clock.now.offset)
          woken.add()
        }
        return times
      }
    }
    await clock.advance(by: .seconds(10), stepping: 2)
    #expect(clock.now.offset == .seconds(10))
    await woken.reach(15)
    sleepers[1].cancel()
    await clock.advance(by: .seconds(9), stepping: 1)
    await woken.reach(24)
    clock.advance(by: .seconds(1))
    #expect(try await sleepers[0].value == (1...20).map { .seconds($0) })
  }

  @Test func `running passes every deadline until the work is done`() async throws {
    let clock = ManualClock()
    let times = try await clock.run(sleepers: 2) {
      // Two that take turns, the second of them beyond the end of the first.
      async let other: Void = clock.sleep(until: .init(offset: .seconds(7)))
      var times: [Duration] = []
      for second in [1, 4, 6] {
        try await clock.sleep(until: .init(offset: .seconds(second)))
        times.append(clock.now.offset)
      }
      clock.advance(by: .seconds(1))
      try await other
      return times
    }
    #expect(times == [.seconds(1), .seconds(4), .seconds(6)])
    #expect(clock.now.offset == .seconds(7))
    await #expect(throws: CancellationError.self) {
      try await clock.run { throw CancellationError() }
    }
  }
}
