import Synchronization

#if SANITIZE_THREAD
  import Zoetrope
#endif

/// Closed until it is opened; waiting ends only then, cancelled or not.
final class TaskGate: Sendable {
  private let state = Mutex(State())
  private let arrivals = Tally()
  private struct State: Sendable {
    var isOpen = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  /// Returns when the gate is open.
  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() } else { arrivals.add() }
    }
  }

  /// Lets everybody through, now and later. May be called any number of times, on any threads.
  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    waiters.forEach { $0.resume() }
  }

  /// Returns when `count` tasks wait or have waited.
  func waiters(count: Int) async { await arrivals.reach(count) }
}
