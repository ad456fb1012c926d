internal import Synchronization

/// Coalesces concurrent requests for the same key into a single run of the work.
///
/// The first request for a key starts the work, and later requests wait for the same run. A result or an error is
/// delivered to every waiter, and never cached. A cancelled waiter gets ``AnimatedImageError/Code/cancelled``
/// immediately. Cancelling the last waiter cancels the work, and the next request starts the work again.
package final class FrameCoalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The outcome of a run.
  package typealias Outcome = Result<Value, AnimatedImageError>

  private struct Flight: Sendable {
    let number: Int
    let urgency: LoadUrgency
    var task: Task<Void, Never>?
    var waiters: [ResultHandover<Outcome>] = []
  }

  private struct State: Sendable {
    var flights: [Key: Flight] = [:]
    var lastNumber = 0
  }

  private let state = Mutex(State())

  /// Creates a coalescer with no runs.
  package init() {}

  /// The number of keys for which a run is in progress.
  package var count: Int { state.withLock { $0.flights.count } }

  /// Returns the number of waiters for `key`.
  package func waiterCount(for key: Key) -> Int {
    state.withLock { $0.flights[key]?.waiters.count ?? 0 }
  }

  /// Returns the urgency of the run for `key`, or nil if no run is in progress.
  package func urgency(of key: Key) -> LoadUrgency? { state.withLock { $0.flights[key]?.urgency } }

  /// Runs `operation` and returns its value, or waits for a run in progress for an equal key and returns the value of
  /// that run.
  ///
  /// `operation` runs in its own task, at the highest priority of its waiters.
  ///
  /// - Parameter priority: The waiter's priority. Default: nil, which means the priority of the calling task.
  package func value(
    for key: Key, priority: TaskPriority? = nil,
    running operation: @escaping @Sendable () async throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    if Task.isCancelled { throw Self.cancelled }
    let waiter = ResultHandover<Outcome>()
    join(key, waiter, priority ?? Task.currentPriority, operation)
    guard let outcome = await waiter.valueUnlessCancelled({ leave(key, waiter) }) else {
      throw Self.cancelled
    }
    return try outcome.get()
  }

  private func join(
    _ key: Key, _ waiter: ResultHandover<Outcome>, _ priority: TaskPriority,
    _ operation: @escaping @Sendable () async throws(AnimatedImageError) -> Value
  ) {
    let slower = state.withLock { state -> Task<Void, Never>? in
      var slower: Task<Void, Never>?
      if let flight = state.flights[key] {
        if flight.urgency.raise(to: priority) { slower = flight.task }
      } else {
        state.lastNumber += 1
        let number = state.lastNumber
        let task = Task(priority: priority) { [weak self] in
          let outcome: Outcome
          do throws(AnimatedImageError) { outcome = .success(try await operation()) } catch {
            outcome = .failure(error)
          }
          self?.finish(key, number, outcome)
        }
        state.flights[key] = Flight(number: number, urgency: LoadUrgency(priority), task: task)
      }
      state.flights[key]?.waiters.append(waiter)
      return slower
    }
    slower?.escalatePriority(to: priority)
  }

  /// Keeps the run in progress for `key`, if there is one, even if all its waiters leave. It is kept until the returned
  /// closure is called.
  package func hold(_ key: Key) -> @Sendable () -> Void {
    let waiter = ResultHandover<Outcome>()
    state.withLock { $0.flights[key]?.waiters.append(waiter) }
    return { self.leave(key, waiter) }
  }

  private func leave(_ key: Key, _ waiter: ResultHandover<Outcome>) {
    let task = state.withLock { state -> Task<Void, Never>? in
      guard let waiters = state.flights[key]?.waiters, waiters.contains(where: { $0 === waiter })
      else { return nil }
      state.flights[key]?.waiters.removeAll { $0 === waiter }
      return waiters.count == 1 ? state.flights.removeValue(forKey: key)?.task : nil
    }
    task?.cancel()
  }

  private func finish(_ key: Key, _ number: Int, _ outcome: Outcome) {
    let waiters = state.withLock { state in
      // A run without waiters is removed, so the key may already belong to the next run.
      guard state.flights[key]?.number == number else { return [ResultHandover<Outcome>]() }
      return state.flights.removeValue(forKey: key)?.waiters ?? []
    }
    for waiter in waiters { waiter.close(with: outcome) }
  }

  private static var cancelled: AnimatedImageError {
    AnimatedImageError(.cancelled, "stopped while waiting for a shared load")
  }
}
