import Synchronization

#if SANITIZE_THREAD
  import Zoetrope
#endif

/// A count that several tasks raise, and that others wait for.
final class Tally: Sendable {
  private struct State {
    var count = 0
    var lastID = 0
    var waiters: [(id: Int, goal: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  /// Adds `amount`; returns the new count.
  @discardableResult func add(_ amount: Int = 1) -> Int {
    let (count, reached) = state.withLock { state in
      state.count += amount
      let count = state.count
      defer { state.waiters.removeAll { $0.goal <= count } }
      return (count, state.waiters.filter { $0.goal <= count }.map(\.continuation))
    }
    for waiter in reached { waiter.resume() }
    return count
  }

  /// The count so far.
  var count: Int { state.withLock { $0.count } }

  /// Returns when the count is `goal` or more, or when the task is cancelled, as a time limit does.
  func reach(_ goal: Int) async {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if Task.isCancelled || state.count >= goal { return true }
          state.waiters.append((id, goal, continuation))
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
      }
      waiter?.continuation.resume()
    }
  }
}
