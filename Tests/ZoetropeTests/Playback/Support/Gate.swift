import Glibc
import Synchronization

#if SANITIZE_THREAD
  import Zoetrope
#endif

/// Holds decoding up at chosen frames until the test lets it pass.
///
/// Blocks the decoding thread, as a slow decoder does; a condition variable would need unsafe code, so
/// the thread looks again every 50 µs.
final class Gate: Sendable {
  private let state: Mutex<(closed: Set<Int>, decoded: [Int])>

  init(closed: Set<Int> = []) { state = Mutex((closed, [])) }

  /// The frames that were decoded, in order.
  var decoded: [Int] { state.withLock { $0.decoded } }

  func open(_ index: Int) { state.withLock { _ = $0.closed.remove(index) } }

  func close(_ index: Int) { state.withLock { _ = $0.closed.insert(index) } }

  /// Called by the decoder.
  func pass(_ index: Int) {
    while !state.withLock({ state in
      if state.closed.contains(index) { return false }
      state.decoded.append(index)
      return true
    }) {
      usleep(50)
    }
  }
}
