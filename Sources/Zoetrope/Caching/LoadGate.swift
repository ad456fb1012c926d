internal import Synchronization

/// Lets a bounded number of loads run at one time; the others wait in order.
package final class LoadGate: Sendable {
  private let limit: Int
  private let state = Mutex(State())

  private struct State: Sendable {
    var running = 0
    var lastNumber = 0
    var queue: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
  }

  /// A gate for `limit` loads; at least one.
  package init(limit: Int) { self.limit = max(limit, 1) }

  /// Loads that run now.
  package var runningCount: Int { state.withLock { $0.running } }
  /// Loads that wait.
  package var waitingCount: Int { state.withLock { $0.queue.count } }

  /// Runs `work` when there is room. Throws `cancelled` when the task is cancelled while it waits.
  package func run<Value: Sendable>(
    _ work: () async throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    guard await enter() else { throw AnimatedImageError(.cancelled, "while waiting for its turn") }
    defer { leave() }
    return try await work()
  }

  private func enter() async -> Bool {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Bool? = state.withLock { state in
          // Asked under the lock: a cancellation that comes later finds the number in the queue.
          if Task.isCancelled { return false }
          if state.running < limit {
            state.running += 1
            return true
          }
          state.queue.append((number, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        state.queue.firstIndex { $0.number == number }.map { state.queue.remove(at: $0) }
      }?.continuation
      continuation?.resume(returning: false)
    }
  }

  /// Hands the place to the next in line, or gives it up.
  private func leave() {
    let next = state.withLock { state in
      guard !state.queue.isEmpty else {
        state.running -= 1
        return nil as CheckedContinuation<Bool, Never>?
      }
      return state.queue.removeFirst().continuation
    }
    next?.resume(returning: true)
  }
}
