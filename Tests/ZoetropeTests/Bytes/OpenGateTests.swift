import TestRunning
import Testing

@testable import ZoetropeFrames

@Suite(.timeLimit(.minutes(10))) struct OpenGateTests {
  @Test func `no more places are taken than there are, in the order of arrival`() async throws {
    let gate = OpenGate(limit: 2)
    let first = try #require(await gate.enter())
    let second = await gate.enter()
    var waiting: [Task<OpenGate.Place?, Never>] = []
    for count in 1...2 {
      waiting.append(Task { await gate.enter() })
      await eventually { gate.waitingCount == count }
    }
    first.leave()
    // A place that was left already is not left again.
    first.leave()
    let third = await waiting[0].value
    #expect(second != nil && third != nil && gate.waitingCount == 1)
    third?.leave()
    #expect(await waiting[1].value != nil && gate.waitingCount == 0)
    withExtendedLifetime(second) {}
  }

  @Test func `a place that is released admits the next task`() async {
    let gate = OpenGate(limit: 1)
    for _ in 0..<9 { #expect(await gate.enter() != nil) }
  }

  @Test func `any number of cancelled tasks are passed over`() async throws {
    let gate = OpenGate(limit: 1)
    let first = try #require(await gate.enter())
    let count = 20_000
    let cancelled = (0..<count).map { _ in Task { await gate.enter() == nil } }
    await eventually { gate.waitingCount == count }
    for task in cancelled { task.cancel() }
    first.leave()
    for task in cancelled { #expect(await task.value) }
    #expect(gate.waitingCount == 0)
    #expect(await gate.enter() != nil)
  }

  @Test func `a cancelled task takes no place`() async throws {
    let gate = OpenGate(limit: 1)
    let first = try #require(await gate.enter())
    let cancelled = (0..<3).map { _ in Task { await gate.enter() == nil } }
    await eventually { gate.waitingCount == 3 }
    for task in cancelled { task.cancel() }
    for task in cancelled { #expect(await task.value) }
    let last = Task { await gate.enter() != nil }
    await eventually { gate.waitingCount == 4 }
    first.leave()
    #expect(await last.value)
    #expect(gate.waitingCount == 0)
  }
}
