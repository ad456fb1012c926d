internal import Synchronization

/// Runs the same work once for everybody who asks while it is under way.
///
/// The first to ask for a key starts its work, later ones wait for the same run. A result or an
/// error reaches every waiter and is then forgotten: keeping results is a cache's business, and a
/// kept error would outlive its cause. A waiter that is cancelled gets
/// ``AnimatedImageError/Code/cancelled`` at once. When the last one is, the work is cancelled too, and
/// the next asker starts over.
package final class FrameCoalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// What a run ends with.
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

  /// A coalescer with nothing under way.
  package init() {}

  /// Keys whose work is under way.
  package var count: Int { state.withLock { $0.flights.count } }

  /// How many wait for `key`.
  package func waiterCount(for key: Key) -> Int {
    state.withLock { $0.flights[key]?.waiters.count ?? 0 }
  }

  /// The urgency of the run for `key`, if one is under way.
  package func urgency(of key: Key) -> LoadUrgency? { state.withLock { $0.flights[key]?.urgency } }

  /// The value of `operation`, or of an equal key's run that is already under way.
  ///
  /// `operation` runs in a task of its own, with the highest priority of those who ask.
  ///
  /// - Parameter priority: default: nil, that of the calling task.
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
      // A run that all waiters left was removed; the key may belong to the next one by now.
      guard state.flights[key]?.number == number else { return [ResultHandover<Outcome>]() }
      return state.flights.removeValue(forKey: key)?.waiters ?? []
    }
    for waiter in waiters { waiter.close(with: outcome) }
  }

  private static var cancelled: AnimatedImageError {
    AnimatedImageError(.cancelled, "while waiting for a shared load")
  }
}

/// How urgent a shared load is: as urgent as the most urgent of those who ask for it.
package final class LoadUrgency: Sendable {
  private let level: Atomic<UInt8>

  package init(_ priority: TaskPriority) { level = Atomic(priority.rawValue) }

  package var priority: TaskPriority { TaskPriority(rawValue: level.load(ordering: .relaxed)) }

  /// Raises it to `priority`; false when it was as high before.
  package func raise(to priority: TaskPriority) -> Bool {
    level.max(priority.rawValue, ordering: .relaxed).oldValue < priority.rawValue
  }
}

/// Lets a bounded number of loads run at one time; the others wait, the most urgent first, then in
/// order.
package final class LoadGate: Sendable {
  private let limit: Int
  private let state = Mutex(State())

  private struct State: Sendable {
    var running = 0
    var queue: [(urgency: LoadUrgency, waiter: ResultHandover<Void>)] = []

    /// Removes the first of the most urgent waiters.
    mutating func next() -> ResultHandover<Void>? {
      var place: Int?
      for other in queue.indices
      where place.map({ queue[$0].urgency.priority < queue[other].urgency.priority }) ?? true {
        place = other
      }
      return place.map { queue.remove(at: $0).waiter }
    }
  }

  /// A gate for `limit` loads; at least one.
  package init(limit: Int) { self.limit = max(limit, 1) }

  /// Loads that run now.
  package var runningCount: Int { state.withLock { $0.running } }
  /// Loads that wait.
  package var waitingCount: Int { state.withLock { $0.queue.count } }

  /// Runs `work` when there is room. Throws `cancelled` when the task is cancelled while it waits.
  ///
  /// - Parameter urgency: may rise while it waits. Default: nil, the calling task's priority.
  package func run<Value: Sendable>(
    _ urgency: LoadUrgency? = nil, _ work: () async throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    guard await enter(urgency ?? LoadUrgency(Task.currentPriority)) else {
      throw AnimatedImageError(.cancelled, "while waiting for its turn")
    }
    defer { leave() }
    return try await work()
  }

  private func enter(_ urgency: LoadUrgency) async -> Bool {
    if Task.isCancelled { return false }
    let waiter = ResultHandover<Void>()
    let isRoom = state.withLock { state in
      if state.running < limit {
        state.running += 1
        return true
      }
      state.queue.append((urgency, waiter))
      return false
    }
    if isRoom { return true }
    return await waiter.valueUnlessCancelled {
      state.withLock { state in state.queue.removeAll { $0.waiter === waiter } }
    } != nil
  }

  /// Passes the place on to the next waiter that was not cancelled, or frees it.
  private func leave() {
    while let next = state.withLock({ state -> ResultHandover<Void>? in
      if let next = state.next() { return next }
      state.running -= 1
      return nil
    }) {
      if next.close(with: ()) { return }
    }
  }
}

/// Reports the progress of shared loads to everybody who waits for them.
package final class LoadProgress: Sendable {
  private struct Load: Sendable {
    var watchers: [Int: AsyncStream<LoadingPhase>.Continuation] = [:]
    var percent = 0
    var told = 0
    /// Whether a thread is telling the watchers, to which reports made meanwhile are left.
    var isTelling = false

    /// The next report and its watchers; nil when all was told.
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

  /// Sends reports on `id` to `continuation` until ``stopWatching(_:_:)`` is called with the result.
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

  /// Tells all who watch `id`. Only new whole percentages are reported, so that a stream nobody reads
  /// holds a hundred phases at most.
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
    // Under no lock, since a watcher may run at once on an executor of its own; in order all the same,
    // since one thread at a time tells.
    while let (percent, watchers) = news {
      for watcher in watchers { watcher.yield(.loading(Double(percent) / 100)) }
      news = state.withLock { $0.loads[id]?.next() }
    }
  }
}
