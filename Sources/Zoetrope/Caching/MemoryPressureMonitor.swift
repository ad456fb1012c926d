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
  private var lacksRoom = false
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

  /// Reads once, and sets the budget's pressure and what it may hold in its control group; gives the
  /// level that holds now.
  ///
  /// A change is logged under `zoetrope.memory`: a rise of the pressure, or a group with less room than
  /// the budget asks for, as a warning, the end of it as a notice. Reads some five small files (50 µs).
  @discardableResult
  public func poll() -> MemoryPressure {
    let before = gauge.level
    let reading = budget.fit(read)
    let level = gauge.update(reading)
    budget.find(level)
    budget.settle()
    if level != before {
      log("memory pressure changed", isWorse: level > before, ["was": "\(before)"])
    }
    let lacks = budget.lacksRoom(since: lacksRoom)
    if lacks != lacksRoom {
      lacksRoom = lacks
      log("room in the control group changed", isWorse: lacks, [:])
    }
    return level
  }

  /// Polls every `interval` until the task is cancelled. 1 s by default: stall averages span ten.
  ///
  /// When it ends, the budget may be used whole again: nobody would see that memory is no longer short.
  public func run(
    every interval: Duration = .seconds(1), clock: some Clock<Duration> = ContinuousClock()
  ) async {
    while !Task.isCancelled {
      poll()
      do { try await clock.sleep(for: interval) } catch { break }
    }
    gauge = PressureGauge()
    budget.forgetFindings()
  }

  private func log(_ message: Logger.Message, isWorse: Bool, _ more: Logger.Metadata) {
    let facts: Logger.Metadata = [
      "pressure": "\(gauge.level)", "limit": "\(budget.effectiveLimit)",
      "used": "\(budget.usedBytes)",
    ]
    logger.log(
      level: isWorse ? .warning : .notice, message,
      metadata: facts.merging(more) { fact, _ in fact })
  }
}
