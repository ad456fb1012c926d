import TestRunning
import Testing
import Zoetrope

@Suite(.timeLimit(.minutes(10))) struct FrameCoalescerTests {
  private let coalescer = FrameCoalescer<Int, Int>()

  @Test func `fifty askers share one run`() async throws {
    let runs = Tally()
    let gate = TaskGate()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 {
        group.addTask { [coalescer] in
          try await coalescer.value(for: 1) { () async throws(AnimatedImageError) in
            runs.add()
            await gate.wait()
            return 42
          }
        }
      }
      await coalescer.waitUntil(waiters: 50, for: 1)
      gate.open()
      for try await value in group { #expect(value == 42) }
    }
    #expect(runs.count == 1)
    #expect(coalescer.count == 0)
  }

  @Test func `an error reaches every waiter and is not kept`() async throws {
    let gate = TaskGate()
    let fault = AnimatedImageError(.malformed, "made up")
    await withTaskGroup(of: AnimatedImageError?.self) { group in
      for _ in 0..<10 {
        group.addTask { [coalescer] in
          do throws(AnimatedImageError) {
            _ = try await coalescer.value(for: 1) { () async throws(AnimatedImageError) in
              await gate.wait()
              throw fault
            }
            return nil
          } catch { return error }
        }
      }
      await coalescer.waitUntil(waiters: 10, for: 1)
      gate.open()
      for await error in group { #expect(error == fault) }
    }
    let value = try await coalescer.value(for: 1) { 7 }
    #expect(value == 7)
  }

  @Test func `a run that is retired serves its waiters, and no others`() async throws {
    let (started, gate) = (TaskGate(), TaskGate())
    let first = Task { [coalescer] in
      try await coalescer.value(for: 1) { (retirement) async throws(AnimatedImageError) in
        #expect(!retirement.isRaised)
        started.open()
        await gate.wait()
        return retirement.isRaised ? 1 : 0
      }
    }
    let cancelled = TaskGate()
    await started.wait()
    coalescer.retire(1)
    let second = Task { [coalescer] in
      try await coalescer.value(for: 1) { () async throws(AnimatedImageError) in
        await cancellation()
        cancelled.open()
        return 2
      }
    }
    await coalescer.waitUntil(waiters: 1, for: 1)
    #expect(coalescer.count == 2)
    coalescer.retire(1)
    second.cancel()
    // The last waiter of a retired run ends it too.
    await cancelled.wait()
    #expect(try await coalescer.value(for: 1) { 3 } == 3)
    gate.open()
    #expect(try await first.value == 1)
    #expect(coalescer.count == 0)
  }

  private final class Token: Sendable {
    let ends: Tally
    init(_ ends: Tally) { self.ends = ends }
    deinit { ends.add() }
  }

  @Test(arguments: [false, true])
  func `a held run goes on without waiters, and its value is kept only if that is asked for`(
    keepsValue: Bool
  ) async throws {
    let coalescer = FrameCoalescer<Int, Token>()
    let (gate, ends) = (TaskGate(), Tally())
    let asker = Task {
      _ = try await coalescer.value(for: 1) { () async throws(AnimatedImageError) in
        await gate.wait()
        #expect(!Task.isCancelled)
        return Token(ends)
      }
    }
    await eventually { coalescer.waiterCount(for: 1) == 1 }
    var release: (@Sendable () -> Void)? = coalescer.hold(1, keepsValue: keepsValue)
    asker.cancel()
    _ = await asker.result
    gate.open()
    await eventually { coalescer.count == 0 }
    if keepsValue {
      // Enough turns for the run's own task to end.
      for _ in 0..<1000 { await Task.yield() }
      #expect(ends.count == 0)
    } else {
      await eventually { ends.count == 1 }
    }
    release?()
    release = nil
    await eventually { ends.count == 1 }
  }

  @Test func `one waiter that leaves gets its error at once and the others their value`()
    async throws
  {
    let gate = TaskGate()
    let operation: @Sendable () async throws(AnimatedImageError) -> Int = {
      await gate.wait()
      return Task.isCancelled ? -1 : 5
    }
    let leaver = Task { [coalescer] in
      await outcome { () async throws(AnimatedImageError) in
        try await coalescer.value(for: 1, running: operation)
      }
    }
    let stayer = Task { [coalescer] in
      await outcome { () async throws(AnimatedImageError) in
        try await coalescer.value(for: 1, running: operation)
      }
    }
    await coalescer.waitUntil(waiters: 2, for: 1)
    leaver.cancel()
    #expect(await leaver.value.code == .cancelled)
    gate.open()
    #expect(try await stayer.value.get() == 5)
  }

  @Test func `the last waiter that leaves cancels the work and the next asker starts afresh`()
    async throws
  {
    let gate = TaskGate()
    let cancels = Tally()
    let ended = TaskGate()
    let waiters = (0..<3).map { _ in
      Task { [coalescer] in
        await outcome { () async throws(AnimatedImageError) in
          try await coalescer.value(for: 1) { () async throws(AnimatedImageError) in
            await gate.wait()
            if Task.isCancelled { cancels.add() }
            ended.open()
            return 1
          }
        }
      }
    }
    await coalescer.waitUntil(waiters: 3, for: 1)
    waiters.forEach { $0.cancel() }
    for waiter in waiters { #expect(await waiter.value.code == .cancelled) }
    #expect(coalescer.count == 0)
    #expect(try await coalescer.value(for: 1) { 2 } == 2)
    gate.open()
    await ended.wait()
    #expect(cancels.count == 1)
  }

  @Test func `a joined run is as urgent as the most urgent asker`() async throws {
    let gate = TaskGate()
    let operation: @Sendable () async throws(AnimatedImageError) -> Int = {
      await gate.wait()
      return 1
    }
    async let first = coalescer.value(for: 1, priority: .low, running: operation)
    await coalescer.waitUntil(waiters: 1, for: 1)
    #expect(coalescer.urgency(of: 1)?.priority == .low)
    async let second = coalescer.value(for: 1, priority: .high, running: operation)
    await coalescer.waitUntil(waiters: 2, for: 1)
    async let third = coalescer.value(for: 1, priority: .low, running: operation)
    await coalescer.waitUntil(waiters: 3, for: 1)
    #expect(coalescer.urgency(of: 1)?.priority == .high)
    gate.open()
    #expect(try await [first, second, third] == [1, 1, 1])
  }

  @Test func `an asker that is cancelled already starts nothing`() async {
    let runs = Tally()
    let task = Task { [coalescer] in
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await outcome { () async throws(AnimatedImageError) in
        try await coalescer.value(for: 1) { runs.add() }
      }
    }
    #expect(await task.value.code == .cancelled)
    #expect(runs.count == 0)
  }

  @Test func `ten thousand asks with random cancels end and leave nothing behind`() async {
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<10_000 {
        group.addTask { [coalescer] in
          let task = Task {
            await outcome { () async throws(AnimatedImageError) in
              try await coalescer.value(for: number % 7) { () async throws(AnimatedImageError) in
                await Task.yield()
                return number % 7
              }
            }
          }
          if number % 3 == 0 { task.cancel() }
          switch await task.value {
          case .success(let value): #expect(value == number % 7)
          case .failure(let error): #expect(error.code == .cancelled)
          }
        }
      }
    }
    #expect(coalescer.count == 0)
  }
}

extension Result where Failure == AnimatedImageError {
  fileprivate var code: AnimatedImageError.Code? {
    if case .failure(let error) = self { error.code } else { nil }
  }
}

extension FrameCoalescer {
  /// Runs `operation`, which need not know whether its run is retired.
  fileprivate func value(
    for key: Key, priority: TaskPriority? = nil,
    running operation: @escaping @Sendable () async throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    try await value(for: key, priority: priority) { (_) async throws(AnimatedImageError) in
      try await operation()
    }
  }

  /// Waits until this many wait for `key`.
  fileprivate func waitUntil(waiters count: Int, for key: Key) async {
    await eventually { waiterCount(for: key) >= count }
  }
}

private func outcome<Value: Sendable>(
  _ body: () async throws(AnimatedImageError) -> Value
) async -> Result<Value, AnimatedImageError> {
  do throws(AnimatedImageError) { return .success(try await body()) } catch {
    return .failure(error)
  }
}
