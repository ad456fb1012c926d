internal import Synchronization

/// Passes the progress of shared loads on to everybody who waits for them.
package final class LoadProgress: Sendable {
  private struct Load: Sendable {
    var watchers: [Int: AsyncStream<LoadingPhase>.Continuation] = [:]
    var percent = 0
    var told = 0
    /// Whether somebody is telling the watchers: whoever reports meanwhile leaves it to them.
    var isTelling = false

    /// What is to be told, to whom; nil when everything was.
    mutating func next() -> (percent: Int, watchers: [AsyncStream<LoadingPhase>.Continuation])? {
      isTelling = percent > told
      guard isTelling else { return nil }
      told = percent
      return (percent, Array(watchers.values))
    }
  }

  private struct State: Sendable {
    var loads: [LoadIdentifier: Load] = [:]
    var lastNumber = 0
  }

  private let state = Mutex(State())

  package init() {}

  /// Passes reports on `id` to `continuation` until ``stopWatching(_:_:)`` with the number returned.
  package func watch(
    _ id: LoadIdentifier, _ continuation: AsyncStream<LoadingPhase>.Continuation
  ) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.loads[id, default: Load()].watchers[state.lastNumber] = continuation
      return state.lastNumber
    }
  }

  /// Ends what ``watch(_:_:)`` began.
  package func stopWatching(_ id: LoadIdentifier, _ number: Int) {
    state.withLock { state in
      state.loads[id]?.watchers[number] = nil
      if state.loads[id]?.watchers.isEmpty == true { state.loads[id] = nil }
    }
  }

  /// Tells all who watch `id`. Only whole per cent that are new are told, so that a stream nobody
  /// reads holds a hundred phases at most.
  package func report(_ fraction: Double, of id: LoadIdentifier) {
    guard fraction.isFinite else { return }
    let percent = Int((min(max(fraction, 0), 1) * 100).rounded(.down))
    var news = state.withLock { state in
      guard let load = state.loads[id], percent > load.percent else {
        return nil as (percent: Int, watchers: [AsyncStream<LoadingPhase>.Continuation])?
      }
      state.loads[id]?.percent = percent
      return load.isTelling ? nil : state.loads[id]?.next()
    }
    // Told with no lock held: a watcher may run at once, on an executor of its own. In order all the
    // same, since one at a time tells.
    while let (percent, watchers) = news {
      for watcher in watchers { watcher.yield(.loading(Double(percent) / 100)) }
      news = state.withLock { $0.loads[id]?.next() }
    }
  }
}
