import Testing
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(1))) struct ManualClockTests {
  @Test func `sleepers wake when their deadline is reached and not before`() async throws {
    let clock = ManualClock()
    let task = Task {
      try await clock.sleep(until: clock.now.advanced(by: .seconds(2)), tolerance: nil)
      return clock.now.offset
    }
    await clock.sleepers(count: 1)
    clock.advance(by: .seconds(1))
    #expect(clock.deadlines.map(\.offset) == [.seconds(2)])
    clock.advance(by: .seconds(1))
    #expect(try await task.value == .seconds(2))
    #expect(clock.deadlines.isEmpty)
  }

  @Test func `cancelling a sleeper wakes it with an error`() async {
    let clock = ManualClock()
    let task = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(2))) }
    await clock.sleepers(count: 1)
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
}
