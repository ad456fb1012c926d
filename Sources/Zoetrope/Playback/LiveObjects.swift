internal import Synchronization

/// Counts the objects and the work of the playbacks that share their frames, so that a test can prove
/// that none is left.
///
/// Kept in release builds too: one uncontended lock for a frame is not measurable, and the latency of
/// cancelling has to be measured in the build that ships.
package final class LiveObjects: Sendable {
  package enum Kind: Int, Sendable, CaseIterable {
    /// Playbacks that are held by anything.
    case session
    /// Tasks that drive a playback.
    case driver
    /// Frames asked for and held.
    case ticket
    /// Decodes that are running.
    case decode
  }

  private struct State {
    var counts = [Int](repeating: 0, count: Kind.allCases.count)
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  package init() {}

  package func count(_ kind: Kind) -> Int { state.withLock { $0.counts[kind.rawValue] } }

  /// Returns when nothing is alive and nothing runs.
  package func allGone() async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        if state.counts.allSatisfy({ $0 == 0 }) {
          continuation.resume()
        } else {
          state.waiters.append(continuation)
        }
      }
    }
  }

  func add(_ kind: Kind) { state.withLock { $0.counts[kind.rawValue] += 1 } }

  func remove(_ kind: Kind) {
    state.withLock { state in
      state.counts[kind.rawValue] -= 1
      guard state.counts.allSatisfy({ $0 == 0 }) else { return }
      for waiter in state.waiters { waiter.resume() }
      state.waiters = []
    }
  }
}
