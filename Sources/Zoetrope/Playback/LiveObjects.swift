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
    /// Frames held.
    case ticket
    /// Frames asked for, not decoded yet and still wanted.
    case wanted
    /// Decodes that are running.
    case decode
  }

  private struct State {
    var counts = [Int](repeating: 0, count: Kind.allCases.count)
    var peaks = [Int](repeating: 0, count: Kind.allCases.count)
    var waiters: [(goal: Goal, handover: ResultHandover<Void>)] = []

    func meets(_ goal: Goal) -> Bool {
      Kind.allCases.allSatisfy { kind in
        counts[kind.rawValue] == 0 || (goal == .noWork && (kind == .session || kind == .ticket))
      }
    }
  }

  /// What can be waited for.
  package enum Goal: Sendable {
    /// Nothing runs or is about to run.
    case noWork
    /// Nothing is held either.
    case nothing
  }

  private let state = Mutex(State())

  package init() {}

  package func count(_ kind: Kind) -> Int { state.withLock { $0.counts[kind.rawValue] } }

  /// The most there ever were at one time.
  package func peak(_ kind: Kind) -> Int { state.withLock { $0.peaks[kind.rawValue] } }

  /// Returns when the goal is met, or when the calling task is cancelled.
  package func reach(_ goal: Goal) async {
    let handover = ResultHandover<Void>()
    let isMet = state.withLock { state in
      if state.meets(goal) { return true }
      state.waiters.append((goal, handover))
      return false
    }
    if isMet { return }
    _ = await handover.valueUnlessCancelled()
    state.withLock { state in state.waiters.removeAll { $0.handover === handover } }
  }

  func add(_ kind: Kind) {
    state.withLock { state in
      let place = kind.rawValue
      state.counts[place] += 1
      state.peaks[place] = max(state.peaks[place], state.counts[place])
    }
  }

  func remove(_ kind: Kind) {
    let met = state.withLock { state -> [ResultHandover<Void>] in
      state.counts[kind.rawValue] -= 1
      guard !state.waiters.isEmpty else { return [] }
      let waiters = state.waiters
      state.waiters = waiters.filter { !state.meets($0.goal) }
      return waiters.filter { state.meets($0.goal) }.map(\.handover)
    }
    for handover in met { handover.close(with: ()) }
  }
}
