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
    /// Raised once the run is retired or nothing waits for it any more.
    let retirement: CancelFlag
    var task: Task<Void, Never>?
    var waiters: [ResultHandover<Outcome>] = []

    /// Removes `waiter`, and returns whether it was the last one.
    mutating func remove(_ waiter: ResultHandover<Outcome>) -> Bool {
      guard let place = waiters.firstIndex(where: { $0 === waiter }) else { return false }
      waiters.remove(at: place)
      return waiters.isEmpty
    }
  }

  private struct State: Sendable {
    /// The runs that requests may join.
    var flights: [Key: Flight] = [:]
    /// The runs that no request may join any more, by their numbers.
    var retired: [Int: Flight] = [:]
    var lastNumber = 0

    /// Removes `waiter` from the run that it waits for. Returns the task of that run if nothing waits for it any more.
    mutating func remove(
      _ waiter: ResultHandover<Outcome>, for key: Key
    ) -> Task<Void, Never>? {
      if flights[key]?.remove(waiter) == true { return end(flights.removeValue(forKey: key)) }
      for number in retired.keys where retired[number]?.remove(waiter) == true {
        return end(retired.removeValue(forKey: number))
      }
      return nil
    }

    private func end(_ flight: Flight?) -> Task<Void, Never>? {
      flight?.retirement.raise()
      return flight?.task
    }
  }

  private let state = Mutex(State())

  /// Creates a coalescer with no runs.
  package init() {}

  /// The number of runs in progress.
  package var count: Int { state.withLock { $0.flights.count + $0.retired.count } }

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
  /// - Parameters:
  ///   - priority: The waiter's priority. Default: nil, which means the priority of the calling task.
  ///   - operation: The work. Its argument is raised once later requests can no longer join the run, because of
  ///     ``retire(_:)`` or because its last waiter was cancelled.
  package func value(
    for key: Key, priority: TaskPriority? = nil,
    running operation: @escaping @Sendable (CancelFlag) async throws(AnimatedImageError) -> Value
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
    _ operation: @escaping @Sendable (CancelFlag) async throws(AnimatedImageError) -> Value
  ) {
    let slower = state.withLock { state -> Task<Void, Never>? in
      var slower: Task<Void, Never>?
      if let flight = state.flights[key] {
        if flight.urgency.raise(to: priority) { slower = flight.task }
      } else {
        state.lastNumber += 1
        let number = state.lastNumber
        let retirement = CancelFlag()
        let task = Task(priority: priority) { [weak self] in
          let outcome: Outcome
          do throws(AnimatedImageError) {
            outcome = .success(try await operation(retirement))
          } catch {
            outcome = .failure(error)
          }
          self?.finish(key, number, outcome)
        }
        state.flights[key] = Flight(
          number: number, urgency: LoadUrgency(priority), retirement: retirement, task: task)
      }
      state.flights[key]?.waiters.append(waiter)
      return slower
    }
    slower?.escalatePriority(to: priority)
  }

  /// Keeps the run in progress for `key`, if there is one, even if all its waiters leave. It is kept until the returned
  /// closure is called.
  ///
  /// - Parameter keepsValue: Whether the value of the run is kept as long, too.
  package func hold(_ key: Key, keepsValue: Bool) -> @Sendable () -> Void {
    let waiter = ResultHandover<Outcome>()
    // A handover that is closed ignores the outcome.
    if !keepsValue { waiter.close(with: nil) }
    state.withLock { $0.flights[key]?.waiters.append(waiter) }
    return { self.leave(key, waiter) }
  }

  private func leave(_ key: Key, _ waiter: ResultHandover<Outcome>) {
    state.withLock { $0.remove(waiter, for: key) }?.cancel()
  }

  /// Prevents later requests from joining the run in progress for `key`, if there is one. The run continues for those
  /// that wait for it already.
  package func retire(_ key: Key) {
    state.withLock { state in
      if let flight = state.flights.removeValue(forKey: key) {
        flight.retirement.raise()
        state.retired[flight.number] = flight
      }
    }
  }

  private func finish(_ key: Key, _ number: Int, _ outcome: Outcome) {
    let waiters = state.withLock { state in
      // A run without waiters is removed, so the key may already belong to the next run.
      guard state.flights[key]?.number == number else {
        return state.retired.removeValue(forKey: number)?.waiters ?? []
      }
      return state.flights.removeValue(forKey: key)?.waiters ?? []
    }
    for waiter in waiters { waiter.close(with: outcome) }
  }

  private static var cancelled: AnimatedImageError {
    AnimatedImageError(.cancelled, "stopped while waiting for a shared load")
  }
}
