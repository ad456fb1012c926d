internal import Synchronization

/// The urgency of a shared load: the highest priority of its waiters.
package final class LoadUrgency: Sendable {
  private let level: Atomic<UInt8>

  package init(_ priority: TaskPriority) { level = Atomic(priority.rawValue) }

  package var priority: TaskPriority { TaskPriority(rawValue: level.load(ordering: .relaxed)) }

  /// Raises the urgency to `priority`. Returns false if the urgency was already at least as high.
  package func raise(to priority: TaskPriority) -> Bool {
    level.max(priority.rawValue, ordering: .relaxed).oldValue < priority.rawValue
  }
}

/// A gate that limits the number of concurrent loads, and the total size of their files. Other loads wait, ordered by
/// urgency and then by arrival.
package final class LoadGate: Sendable {
  private let limit: Int
  private let byteLimit: @Sendable () -> Int
  private let state = Mutex(State())

  private struct State: Sendable {
    var running = 0
    var byteCount = 0
    var queue: [(urgency: LoadUrgency, byteCount: Int, waiter: ResultHandover<LoadPlace>)] = []

    /// The queue position of the first of the most urgent waiters.
    var first: Int? {
      var place: Int?
      for other in queue.indices
      where place.map({ queue[$0].urgency.priority < queue[other].urgency.priority }) ?? true {
        place = other
      }
      return place
    }
  }

  /// Creates a gate for up to `limit` loads (at least one) of up to `byteLimit` bytes in total. A load that runs alone
  /// may be larger.
  package init(limit: Int, byteLimit: @escaping @Sendable () -> Int = { .max }) {
    self.limit = max(limit, 1)
    self.byteLimit = byteLimit
  }

  /// The number of running loads.
  package var runningCount: Int { state.withLock { $0.running } }
  /// The number of waiting loads.
  package var waitingCount: Int { state.withLock { $0.queue.count } }

  /// Waits for a free place and returns it. The place stays taken as long as the returned object exists. Throws
  /// `cancelled` if the task is cancelled while the load waits.
  ///
  /// - Parameters:
  ///   - urgency: The urgency, which may rise while the load waits. Default: nil, which means the calling task's
  ///     priority.
  ///   - byteCount: The size of the file in bytes. Default: 0.
  package func enter(
    _ urgency: LoadUrgency? = nil, byteCount: Int = 0
  ) async throws(AnimatedImageError) -> LoadPlace {
    let waiter = ResultHandover<LoadPlace>()
    let urgency = urgency ?? LoadUrgency(Task.currentPriority)
    if !Task.isCancelled {
      state.withLock { $0.queue.append((urgency, byteCount, waiter)) }
      admit()
      let place = await waiter.valueUnlessCancelled {
        state.withLock { state in state.queue.removeAll { $0.waiter === waiter } }
        // Other loads may have been waiting behind this one.
        admit()
      }
      if let place { return place }
    }
    throw AnimatedImageError(.cancelled, "stopped while waiting for other loads")
  }

  /// Admits waiters while there is room.
  private func admit() {
    while true {
      let next = state.withLock { state -> (ResultHandover<LoadPlace>, byteCount: Int)? in
        guard let first = state.first, state.running < limit else { return nil }
        let (sum, overflow) = state.byteCount.addingReportingOverflow(state.queue[first].byteCount)
        guard state.running == 0 || !overflow && sum <= byteLimit() else { return nil }
        let admitted = state.queue.remove(at: first)
        state.running += 1
        state.byteCount = sum
        return (admitted.waiter, admitted.byteCount)
      }
      guard let next else { return }
      // If the waiter was cancelled meanwhile, the place is released immediately and is free again.
      next.0.close(with: LoadPlace(self, byteCount: next.byteCount))
    }
  }

  fileprivate func leave(byteCount: Int) {
    state.withLock { state in
      state.running -= 1
      state.byteCount -= byteCount
    }
    admit()
  }
}

/// A load's place in a ``LoadGate``. The place becomes free when the last reference to it is released.
package final class LoadPlace: Sendable {
  private let gate: LoadGate
  private let byteCount: Int

  fileprivate init(_ gate: LoadGate, byteCount: Int) {
    self.gate = gate
    self.byteCount = byteCount
  }

  deinit { gate.leave(byteCount: byteCount) }
}
