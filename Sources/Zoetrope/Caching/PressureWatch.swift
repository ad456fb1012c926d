internal import Synchronization

/// Keeps a ``MemoryPressureMonitor`` going for one budget while that holds something.
package final class PressureWatch: Sendable {
  /// Bytes held from which on there is something worth giving back.
  package static let threshold = 1 << 20

  private let enabled: Atomic<Bool>
  private let running = Atomic<Bool>(false)
  private let interval: Duration
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
        do { try await self.clock.sleep(for: self.interval) } catch { break }
      }
      self.running.store(false, ordering: .releasing)
      // What was stored since the last look found this task running.
      self.start(for: budget)
    }
  }

  private func isNeeded(for budget: MemoryBudget) -> Bool {
    budget.usedBytes >= Self.threshold || budget.pressure != .none
  }
}
