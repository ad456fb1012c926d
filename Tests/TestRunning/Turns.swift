import Synchronization

#if SANITIZE_THREAD
  import Zoetrope
#endif

/// A number of turns, granted in the order in which they are requested.
public final class Turns: Sendable {
  private struct State {
    var free: Int
    var waiters: [CheckedContinuation<Void, Never>] = []
  }
  private let state: Mutex<State>

  /// `count` turns, all free.
  public init(_ count: Int) { state = Mutex(State(free: count)) }

  /// Waits for a turn, without blocking a thread.
  public func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.free > 0 else {
          state.waiters.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  /// Returns a turn, which goes to the task that has waited longest.
  public func giveBack() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if !state.waiters.isEmpty { return state.waiters.removeFirst() }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}
