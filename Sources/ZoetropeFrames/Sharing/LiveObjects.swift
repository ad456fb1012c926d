internal import Synchronization

/// Counts the live objects and the pending work of playbacks that share their frames, so that tests can detect leaks.
///
/// The counting is enabled in release builds too. Its cost of one uncontended lock per frame is too small to measure,
/// and the latency of cancelling must be measured in the build that ships.
package final class LiveObjects: Sendable {
  package enum Kind: Int, Sendable, CaseIterable {
    /// Playbacks that exist in memory.
    case session
    /// Drivers, the objects that run a playback.
    case driver
    /// Tickets that exist in memory.
    case ticket
    /// Tickets whose frames have been requested but not decoded yet.
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

  /// A condition that ``reach(_:)`` waits for.
  package enum Goal: Sendable {
    /// No decode is running, no requested frame is still to be decoded, and no driver exists. Playbacks and tickets may
    /// still exist.
    case noWork
    /// All counts are zero: nothing is running or is about to run, and no object exists.
    case nothing
  }

  private let state = Mutex(State())

  package init() {}

  package func count(_ kind: Kind) -> Int { state.withLock { $0.counts[kind.rawValue] } }

  /// Returns the highest number of objects of this kind that have existed at the same time.
  package func peak(_ kind: Kind) -> Int { state.withLock { $0.peaks[kind.rawValue] } }

  /// Waits until `goal` is met or the calling task is cancelled.
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

  package func add(_ kind: Kind) {
    state.withLock { state in
      let place = kind.rawValue
      state.counts[place] += 1
      state.peaks[place] = max(state.peaks[place], state.counts[place])
    }
  }

  package func remove(_ kind: Kind) {
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
