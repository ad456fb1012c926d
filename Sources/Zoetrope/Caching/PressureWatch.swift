internal import Synchronization

/// Keeps a ``MemoryPressureMonitor`` going for one budget while that holds something.
package final class PressureWatch: Sendable {
  /// Bytes held from which on there is something worth giving back.
  package static let threshold = 1 << 20

  private let enabled: Atomic<Bool>
  private let running = Atomic<Bool>(false)
  private let interval: Duration
  /// Bytes held from which on the room is looked at before the interval is over.
  private let nextLook = Atomic<Int>(PressureWatch.threshold)
  private let clock: any Clock<Duration>
  private let read: @Sendable () -> MemoryReading

  /// A watch that reads this machine's memory once a second.
  package convenience init(isEnabled: Bool = true) {
    self.init(isEnabled: isEnabled, clock: ContinuousClock()) { Self.machine.read() }
  }

  package init(
    isEnabled: Bool = true, interval: Duration = .seconds(1), clock: any Clock<Duration>,
    reading read: @escaping @Sendable () -> MemoryReading
  ) {
    enabled = Atomic(isEnabled)
    self.interval = interval
    self.clock = clock
    self.read = read
  }

  private static let machine = MachineMemory()
  /// Room that is too little to be looked at by those who fill it.
  private static let leastRoom = 4 << 20

  /// Whether it starts when there is something to watch; a running one ends at its next look.
  package var isEnabled: Bool {
    get { enabled.load(ordering: .relaxed) }
    set { enabled.store(newValue, ordering: .relaxed) }
  }

  /// Whether a task is at it.
  package var isRunning: Bool { running.load(ordering: .acquiring) }

  /// Starts a task unless one runs or there is nothing to do. Costs two loads when one runs.
  package func start(for budget: MemoryBudget) {
    guard isEnabled, !isRunning, isNeeded(for: budget),
      running.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing)
        .exchanged
    else { return }
    Task.detached(priority: .utility) {
      // Holds the budget until it is empty: a look longer than its owners do, at most.
      let monitor = MemoryPressureMonitor(budget, reading: self.read)
      while self.isEnabled, self.isNeeded(for: budget) {
        await monitor.poll()
        self.planLook(for: budget)
        do { try await self.clock.sleep(for: self.pause(for: budget)) } catch { break }
      }
      if !self.isEnabled { budget.forgetFindings() }
      self.running.store(false, ordering: .releasing)
      // What was stored since the last look found this task running.
      self.start(for: budget)
    }
  }

  /// Looks at the room in the control group if a good part of it was filled since the last look; a
  /// cache fills a small group in less than the interval. Costs two loads when it was not.
  ///
  /// - Returns: Whether it looked.
  package func lookIfDue(for budget: MemoryBudget) -> Bool {
    guard isEnabled else { return false }
    let due = nextLook.load(ordering: .relaxed)
    // Whoever takes the mark away is the one to look.
    guard budget.usedBytes >= due,
      nextLook.compareExchange(expected: due, desired: .max, ordering: .relaxed).exchanged
    else { return false }
    _ = budget.fit(read)
    planLook(for: budget)
    return true
  }

  /// Sets the mark of the next look: when a quarter of the room is filled. Near the end of it there is
  /// none, since the budget does not let anyone past the end.
  private func planLook(for budget: MemoryBudget) {
    let used = budget.usedBytes
    let room = budget.effectiveLimit - used
    nextLook.store(
      room < Self.leastRoom ? .max : max(used + room / 4, Self.threshold), ordering: .relaxed)
  }

  /// The time to the next look: shorter where the rest of the process may fill the group meanwhile.
  private func pause(for budget: MemoryBudget) -> Duration {
    budget.usedBytes >= Self.threshold && budget.lacksRoom(since: false) ? interval / 10 : interval
  }

  private func isNeeded(for budget: MemoryBudget) -> Bool {
    // A budget that was narrowed is looked after until it may be used again, though nothing is held.
    budget.usedBytes >= Self.threshold || budget.effectiveLimit < budget.byteLimit
  }
}
