internal import Logging
internal import Synchronization

/// Monitors system memory while one ``MemoryBudget`` holds something, and reduces the budget while
/// memory is short.
///
/// Reads pressure-stall information and the counters and usage of this process's control group.
/// Does nothing where the system offers neither. Runs as a task on the cooperative pool.
package final class PressureWatch: Sendable {
  /// Held bytes above which there is something worth releasing.
  package static let threshold = 1 << 20

  private struct Findings: Sendable {
    var gauge = PressureGauge()
    var lacksRoom = false
  }

  private let enabled: Atomic<Bool>
  private let running = Atomic<Bool>(false)
  private let findings = Mutex(Findings())
  private let interval: Duration
  /// Held bytes at which the room is read before the interval is over.
  private let nextLook = Atomic<Int>(PressureWatch.threshold)
  private let clock: any Clock<Duration>
  private let read: @Sendable () -> MemoryReading
  private let logger = Logger(label: "zoetrope.memory")

  /// Creates a watch that reads system memory once per second; stall averages span ten.
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
  /// Below this room, storing does not trigger another reading.
  private static let leastRoom = 4 << 20

  /// Whether it starts when there is something to watch. Once false, a running task ends at its
  /// next reading.
  package var isEnabled: Bool {
    get { enabled.load(ordering: .relaxed) }
    set { enabled.store(newValue, ordering: .relaxed) }
  }

  /// Whether its task runs.
  package var isRunning: Bool { running.load(ordering: .acquiring) }

  /// Starts the task unless it runs or there is nothing to do. Costs two atomic loads if it runs.
  package func start(for budget: MemoryBudget) {
    guard isEnabled, !isRunning, isNeeded(for: budget),
      running.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing)
        .exchanged
    else { return }
    Task.detached(priority: .utility) {
      self.findings.withLock { $0 = Findings() }
      // Keeps the budget alive until it is empty, at most one interval longer than its owners.
      while self.isEnabled, self.isNeeded(for: budget) {
        self.poll(budget)
        self.planLook(for: budget)
        do { try await self.clock.sleep(for: self.pause(for: budget)) } catch { break }
      }
      if !self.isEnabled { budget.forgetFindings() }
      self.running.store(false, ordering: .releasing)
      // Bytes stored since the last reading saw this task still running.
      self.start(for: budget)
    }
  }

  /// Takes one reading, sets the budget's pressure and ceiling, and returns the current level.
  ///
  /// Logs changes under `zoetrope.memory`: rising pressure, or a group with less room than the
  /// budget wants, as a warning; the end of either as a notice. Reads about five small files, in
  /// 50 µs.
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

  /// Reads the room in the control group if much of it was filled since the last reading: a cache
  /// can fill a small group within one interval. Otherwise costs two atomic loads.
  ///
  /// - Returns: Whether it took a reading.
  package func lookIfDue(for budget: MemoryBudget) -> Bool {
    guard isEnabled else { return false }
    let due = nextLook.load(ordering: .relaxed)
    // The thread that clears the mark takes the reading.
    guard budget.usedBytes >= due,
      nextLook.compareExchange(expected: due, desired: .max, ordering: .relaxed).exchanged
    else { return false }
    _ = budget.fit(read)
    planLook(for: budget)
    return true
  }

  /// Sets the mark of the next reading to when a quarter of the room is filled. Sets none near the
  /// end, where the budget's own limit applies.
  private func planLook(for budget: MemoryBudget) {
    let used = budget.usedBytes
    let room = budget.effectiveLimit - used
    nextLook.store(
      room < Self.leastRoom ? .max : max(used + room / 4, Self.threshold), ordering: .relaxed)
  }

  /// The time to the next reading: shorter if the rest of the process could fill the group
  /// meanwhile.
  private func pause(for budget: MemoryBudget) -> Duration {
    budget.usedBytes >= Self.threshold && budget.lacksRoom(since: false) ? interval / 10 : interval
  }

  /// A reduced budget is watched until it is restored, even if nothing is held.
  private func isNeeded(for budget: MemoryBudget) -> Bool {
    budget.usedBytes >= Self.threshold || budget.effectiveLimit < budget.byteLimit
  }
}
