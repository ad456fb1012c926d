internal import Logging

/// Watches the machine's memory and narrows a ``MemoryBudget`` while it is short.
///
/// Reads pressure-stall information, and the counters and usage of this process's control group,
/// where the system offers them; where it offers nothing, nothing happens. ``MemoryBudget/shared`` has
/// one of its own (see ``MemoryBudget/watchesPressure``). No thread of its own: ``run(every:clock:)``
/// lives in the caller's task and ends with it.
public actor MemoryPressureMonitor {
  private let budget: MemoryBudget
  private let read: @Sendable () -> MemoryReading
  private var gauge = PressureGauge()
  private let logger = Logger(label: "zoetrope.memory")

  /// A monitor of `budget` on this machine.
  public init(_ budget: MemoryBudget = .shared) {
    let memory = MachineMemory()
    self.init(budget) { memory.read() }
  }

  package init(_ budget: MemoryBudget, reading read: @escaping @Sendable () -> MemoryReading) {
    self.budget = budget
    self.read = read
  }

  /// Reads once and sets the budget's pressure; gives the level that holds now.
  ///
  /// A change is logged under `zoetrope.memory`: a rise as a warning, a fall as a notice. Reads at
  /// most five small files (some 50 µs).
  @discardableResult
  public func poll() -> MemoryPressure {
    let before = gauge.level
    let level = gauge.update(read())
    guard level != before else { return level }
    budget.pressure = level
    logger.log(
      level: level > before ? .warning : .notice, "memory pressure changed",
      metadata: [
        "pressure": "\(level)", "was": "\(before)", "limit": "\(budget.effectiveLimit)",
        "used": "\(budget.usedBytes)",
      ])
    return level
  }

  /// Polls every `interval` until the task is cancelled. 1 s by default: stall averages span ten.
  public func run(
    every interval: Duration = .seconds(1), clock: some Clock<Duration> = ContinuousClock()
  ) async {
    while !Task.isCancelled {
      poll()
      do { try await clock.sleep(for: interval) } catch { return }
    }
  }
}
