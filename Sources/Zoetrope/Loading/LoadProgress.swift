internal import Synchronization

/// Reports the progress of each shared load to all streams that wait for the load.
package final class LoadProgress: Sendable {
  private struct Load: Sendable {
    var watchers: [Int: AsyncStream<LoadingPhase>.Continuation] = [:]
    /// The run that fetches, or nil if no run has begun since the first watcher came.
    var run: CancelFlag?
    var percent = 0
    var told = 0
    /// Whether a thread is notifying watchers. That thread also delivers reports that arrive meanwhile.
    var isTelling = false

    /// Removes and returns the next report and its watchers. Returns nil if all reports have been delivered.
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

  /// Sends reports on `id` to `continuation` until ``stopWatching(_:_:)`` is called with the returned number.
  package func watch(
    _ id: LoadIdentifier, _ continuation: AsyncStream<LoadingPhase>.Continuation
  ) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.loads[id, default: Load()].watchers[state.lastNumber] = continuation
      return state.lastNumber
    }
  }

  /// Ends the reports that ``watch(_:_:)`` started.
  package func stopWatching(_ id: LoadIdentifier, _ number: Int) {
    state.withLock { state in
      state.loads[id]?.watchers[number] = nil
      if state.loads[id]?.watchers.isEmpty == true { state.loads[id] = nil }
    }
  }

  /// Makes the reports on `id` begin again at 0, because the fetch of `run` begins. Reports of other runs are ignored
  /// from now on.
  package func restart(_ id: LoadIdentifier, by run: CancelFlag) {
    state.withLock { state in
      state.loads[id]?.run = run
      state.loads[id]?.percent = 0
      state.loads[id]?.told = 0
    }
  }

  /// Notifies all watchers of `id`. Only whole percentages that changed are reported, so an unread stream buffers at
  /// most a hundred phases.
  ///
  /// - Parameter run: The run that fetches, as passed to ``restart(_:by:)``, or nil if there is only one.
  package func report(_ fraction: Double, of id: LoadIdentifier, by run: CancelFlag? = nil) {
    guard fraction.isFinite else { return }
    let percent = Int((min(max(fraction, 0), 1) * 100).rounded(.down))
    var news = state.withLock { state in
      guard let load = state.loads[id], load.run == nil || load.run === run,
        percent > load.percent
      else {
        return nil as (percent: Int, watchers: [AsyncStream<LoadingPhase>.Continuation])?
      }
      state.loads[id]?.percent = percent
      return load.isTelling ? nil : state.loads[id]?.next()
    }
    // Notify outside the lock, because a watcher may run immediately on its own executor. Reports stay in order,
    // because only one thread notifies at a time.
    while let (percent, watchers) = news {
      for watcher in watchers { watcher.yield(.loading(Double(percent) / 100)) }
      news = state.withLock { $0.loads[id]?.next() }
    }
  }
}
