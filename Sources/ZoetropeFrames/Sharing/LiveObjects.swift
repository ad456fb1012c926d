internal import Synchronization

/// Counts the live objects and the work of playbacks that share their frames, so that tests can detect
/// leaks.
///
/// Enabled in release builds too: the cost of one uncontended lock per frame is too small to measure, and cancellation
/// latency must be measured in the build that ships.
package final class LiveObjects: Sendable {
  package enum Kind: Int, Sendable, CaseIterable {
    /// Playbacks in memory.
    case session
    /// Drivers of a playback.
    case driver
    /// Frames held.
    case ticket
    /// Frames that have been requested, are not decoded yet, and are still needed.
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

  /// A condition to wait for.
  package enum Goal: Sendable {
    /// Nothing runs or is about to run.
    case noWork
    /// Nothing runs or is about to run, and no object is held.
    case nothing
  }

  private let state = Mutex(State())

  package init() {}

  package func count(_ kind: Kind) -> Int { state.withLock { $0.counts[kind.rawValue] } }

  /// Returns the maximum number of objects of this kind at one time.
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
