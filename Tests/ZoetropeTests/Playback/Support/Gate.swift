import Dispatch
import Synchronization

#if SANITIZE_THREAD
  import Zoetrope
#endif

/// Holds decoding up at chosen frames until the test lets it pass.
///
/// Blocks the decoding thread, as a slow decoder does.
final class Gate: Sendable {
  private struct State: Sendable {
    var closed: Set<Int>
    var decoded: [Int] = []
    var waiters: [(index: Int, isOpen: DispatchSemaphore)] = []
  }
  private let state: Mutex<State>

  init(closed: Set<Int> = []) { state = Mutex(State(closed: closed)) }

  /// The frames that were decoded, in order.
  var decoded: [Int] { state.withLock { $0.decoded } }

  func open(_ index: Int) {
    let waiters = state.withLock { state in
      state.closed.remove(index)
      defer { state.waiters.removeAll { $0.index == index } }
      return state.waiters.filter { $0.index == index }
    }
    for waiter in waiters { waiter.isOpen.signal() }
  }

  func close(_ index: Int) { state.withLock { _ = $0.closed.insert(index) } }

  /// Called by the decoder.
  func pass(_ index: Int) {
    // Again after each wait: the gate may have been closed meanwhile.
    while true {
      let isOpen = DispatchSemaphore(value: 0)
      let waits = state.withLock { state in
        guard state.closed.contains(index) else {
          state.decoded.append(index)
          return false
        }
        state.waiters.append((index, isOpen))
        return true
      }
      guard waits else { return }
      isOpen.wait()
    }
  }
}
