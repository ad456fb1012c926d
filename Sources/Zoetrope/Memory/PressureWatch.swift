internal import Logging
internal import Synchronization

/// Watches the machine's memory while one ``MemoryBudget`` holds something, and narrows the budget while
/// memory is short.
///
/// Reads pressure-stall information, and the counters and usage of this process's control group; where
/// the system offers neither, nothing happens. No thread of its own: a task on the cooperative pool.
package final class PressureWatch: Sendable {
  /// Bytes held from which on there is something worth giving back.
  package static let threshold = 1 << 20

  private struct Findings: Sendable {
    var gauge = PressureGauge()
    var lacksRoom = false
  }

  private let enabled: Atomic<Bool>
  private let running = Atomic<Bool>(false)
  private let findings = Mutex(Findings())
  private let interval: Duration
  /// Bytes held from which on the room is read before the interval is over.
  private let nextLook = Atomic<Int>(PressureWatch.threshold)
  private let clock: any Clock<Duration>
  private let read: @Sendable () -> MemoryReading
  private let logger = Logger(label: "zoetrope.memory")

  /// A watch that reads this machine's memory once a second: stall averages span ten.
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
  /// Room too small to be read again by those who fill it.
  private static let leastRoom = 4 << 20

  /// Whether it starts when there is something to watch; a running task ends at its next look.
  package var isEnabled: Bool {
    get { enabled.load(ordering: .relaxed) }
    set { enabled.store(newValue, ordering: .relaxed) }
  }

  /// Whether its task runs.
  package var isRunning: Bool { running.load(ordering: .acquiring) }

  /// Starts the task unless it runs or there is nothing to do. Costs two loads when it runs.
  package func start(for budget: MemoryBudget) {
    guard isEnabled, !isRunning, isNeeded(for: budget),
      running.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing)
        .exchanged
    else { return }
    Task.detached(priority: .utility) {
      self.findings.withLock { $0 = Findings() }
      // Holds the budget until it is empty: at most one look longer than its owners do.
      while self.isEnabled, self.isNeeded(for: budget) {
        self.poll(budget)
        self.planLook(for: budget)
        do { try await self.clock.sleep(for: self.pause(for: budget)) } catch { break }
      }
      if !self.isEnabled { budget.forgetFindings() }
      self.running.store(false, ordering: .releasing)
      // What was stored since the last look found this task running.
      self.start(for: budget)
    }
  }

  /// Reads once, sets the budget's pressure and what it may hold in its control group, and returns the
  /// current level.
  ///
  /// Logs changes under `zoetrope.memory`: a rise of the pressure, or a group with less room than the
  /// budget asks for, as a warning, the end of it as a notice. Reads some five small files (50 µs).
  @discardableResult
  package func poll(_ budget: MemoryBudget) -> MemoryPressure {
    let reading = budget.fit(read)
    let (before, level) = findings.withLock { ($0.gauge.level, $0.gauge.update(reading)) }
    budget.find(level)
    budget.settle()
    let (lackedRoom, lacksRoom) = findings.withLock { findings in
      let before = findings.lacksRoom
      findings.lacksRoom = budget.lacksRoom(since: before)
      return (before, findings.lacksRoom)
    }
    let facts: Logger.Metadata = [
      "pressure": "\(level)", "limit": "\(budget.effectiveLimit)", "used": "\(budget.usedBytes)",
      "was": "\(before)",
    ]
    if level != before {
      logger.log(
        level: level > before ? .warning : .notice, "memory pressure changed", metadata: facts)
    }
    if lacksRoom != lackedRoom {
      logger.log(
        level: lacksRoom ? .warning : .notice, "room in the control group changed",
        metadata: facts)
    }
    return level
  }

  /// Reads the room in the control group if a good part of it was filled since the last look, since a
  /// cache fills a small group in less than the interval. Costs two loads when it was not.
  ///
  /// - Returns: Whether it looked.
  package func lookIfDue(for budget: MemoryBudget) -> Bool {
    guard isEnabled else { return false }
    let due = nextLook.load(ordering: .relaxed)
    // The thread that clears the mark is the one to look.
    guard budget.usedBytes >= due,
      nextLook.compareExchange(expected: due, desired: .max, ordering: .relaxed).exchanged
    else { return false }
    _ = budget.fit(read)
    planLook(for: budget)
    return true
  }

  /// Sets the mark of the next look: when a quarter of the room is filled. None near the end, where the
  /// budget itself stops everyone.
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

  /// A narrowed budget is watched until it is whole again, even if nothing is held.
  private func isNeeded(for budget: MemoryBudget) -> Bool {
    budget.usedBytes >= Self.threshold || budget.effectiveLimit < budget.byteLimit
  }
}
