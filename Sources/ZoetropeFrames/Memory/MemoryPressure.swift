internal import Logging
internal import Synchronization

/// The degree to which the machine or the control group of this process is short of memory.
package struct MemoryPressure: Sendable, Hashable, Comparable {
  /// The exponent of the power of two by which the budget is divided.
  let shift: Int

  /// Memory is not short: the whole budget may be used.
  package static let none = MemoryPressure(shift: 0)
  /// Some tasks wait for memory: half of the budget may be used.
  package static let some = MemoryPressure(shift: 1)
  /// All tasks wait for memory, or the limit of the control group was reached: an eighth of the budget may be used.
  package static let severe = MemoryPressure(shift: 3)

  /// All levels, in ascending order.
  package static let allLevels = [none, some, severe]

  /// The level below this level, or ``none`` if this is the lowest level.
  var lower: MemoryPressure { Self.allLevels.last { $0 < self } ?? .none }

  /// Returns whether `left` is a lower level of pressure than `right`.
  package static func < (left: MemoryPressure, right: MemoryPressure) -> Bool {
    left.shift < right.shift
  }
}

extension MemoryPressure: CustomStringConvertible {
  /// The name of the level, as it is written to the log.
  package var description: String {
    switch self {
    case .none: "none"
    case .some: "some"
    default: "severe"
    }
  }
}

/// One reading of the system's memory figures. Figures that the system does not report are nil.
package struct MemoryReading: Sendable, Hashable {
  /// The percentage of the last ten seconds in which some tasks waited for memory.
  package var someStall: Double?
  /// The percentage of the last ten seconds in which all tasks waited for memory.
  package var fullStall: Double?
  /// The number of times that the control group has exceeded `memory.high`.
  package var highEvents: Int?
  /// The number of times that the control group has reached `memory.max`, plus the number of times that it has run out
  /// of memory because of this limit.
  package var maxEvents: Int?
  /// The number of bytes that the control group with the least room uses, excluding inactive file pages.
  package var usage: Int?
  /// The number of bytes that the control group with the least room may use.
  package var limit: Int?
  /// The part of ``usage`` that is active file pages, which the system reclaims before it kills a process.
  package var filePages: Int?

  /// The number of bytes that caches may add, or nil if the control group has no limit. If the number is negative,
  /// caches must release that many bytes.
  ///
  /// The number leaves an eighth of the group's limit, at most 64 MiB, free for canvases in use and for what the rest
  /// of the process allocates between two readings.
  package var room: Int? {
    guard let usage, let limit else { return nil }
    return limit - min(limit / 8, 64 << 20) - (usage - (filePages ?? 0))
  }
}

/// Turns each ``MemoryReading`` into a ``MemoryPressure``.
///
/// The level rises immediately. It falls by one after ``calmReadings`` consecutive lower readings, so that a cache does
/// not immediately fill up to the same limit again.
package struct PressureGauge: Sendable, Hashable {
  /// The number of consecutive lower readings after which the level falls by one.
  package static let calmReadings = 10

  package private(set) var level = MemoryPressure.none
  private var calm = 0
  private var last: MemoryReading?

  package init() {}

  /// Takes one reading into account and returns the resulting level.
  package mutating func update(_ reading: MemoryReading) -> MemoryPressure {
    let seen = Self.level(of: reading, after: last)
    last = reading
    if seen >= level {
      level = seen
      calm = 0
    } else {
      calm += 1
      if calm >= Self.calmReadings {
        level = level.lower
        calm = 0
      }
    }
    return level
  }

  /// Returns the level of a single reading, given the previous reading.
  ///
  /// At 5 % stall, interactive work feels slow. A group that reads large files keeps reaching its limit, because file
  /// pages are charged to the group until they are reclaimed. Reaching the limit is therefore a shortage only if pages
  /// other than inactive file pages fill at least 85 % of the limit.
  private static func level(of reading: MemoryReading, after last: MemoryReading?) -> MemoryPressure
  {
    let fill: Double? =
      if let usage = reading.usage, let limit = reading.limit, limit > 0 {
        Double(usage) / Double(limit)
      } else { nil }
    if (reading.fullStall ?? 0) >= 5 { return .severe }
    if grew(reading.maxEvents, last?.maxEvents), fill ?? 1 >= 0.85 { return .severe }
    if (reading.someStall ?? 0) >= 5 || grew(reading.highEvents, last?.highEvents) { return .some }
    return fill ?? 0 >= 0.95 ? .some : .none
  }

  private static func grew(_ now: Int?, _ before: Int?) -> Bool {
    guard let now, let before else { return false }
    return now > before
  }
}

/// Monitors system memory while anything is charged to one ``MemoryBudget``, and reduces the budget while memory is
/// short.
///
/// A watch reads pressure-stall information, and the counters and the usage of the process's control group. Where the
/// system offers neither, a watch has no effect. The watch runs as a task on the cooperative pool. A thread of its own
/// starts this task.
package final class PressureWatch: Sendable {
  /// The number of held bytes below which there is nothing worth releasing.
  package static let threshold = 1 << 20

  private struct Findings: Sendable {
    var gauge = PressureGauge()
    var lacksRoom = false
  }

  private let enabled: Atomic<Bool>
  private let running = Atomic<Bool>(false)
  private let findings = Mutex(Findings())
  private let interval: Duration
  /// The number of held bytes at which the room in the control group is read early, before the interval has passed.
  private let nextLook = Atomic<Int>(PressureWatch.threshold)
  private let clock: any Clock<Duration>
  private let read: @Sendable () -> MemoryReading
  private let startOnThread: @Sendable (@escaping @Sendable () -> Void) -> Bool
  private let logger = Logger(label: "zoetrope.memory")

  /// Creates a watch that reads system memory once per second. The stall percentages that it reads are averages over
  /// ten seconds.
  package convenience init(isEnabled: Bool = true) {
    self.init(isEnabled: isEnabled, clock: ContinuousClock()) { Self.machine.read() }
  }

  /// - Parameter startOnThread: Runs a closure on a new thread. Returns false if the system cannot create one.
  package init(
    isEnabled: Bool = true, interval: Duration = .seconds(1), clock: any Clock<Duration>,
    reading read: @escaping @Sendable () -> MemoryReading,
    startOnThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = {
      startThread(running: $0)
    }
  ) {
    enabled = Atomic(isEnabled)
    self.interval = interval
    self.clock = clock
    self.read = read
    self.startOnThread = startOnThread
  }

  private static let machine = MachineMemory()
  /// If less room than this number of bytes is left, charging more bytes does not trigger another reading.
  private static let leastRoom = 4 << 20

  /// Whether the watch starts when there is something to monitor. When this is set to false, a running task ends at its
  /// next reading.
  package var isEnabled: Bool {
    get { enabled.load(ordering: .relaxed) }
    set { enabled.store(newValue, ordering: .relaxed) }
  }

  /// Whether the monitoring task is running.
  package var isRunning: Bool { running.load(ordering: .acquiring) }

  /// Starts the monitoring task, unless it is running or there is nothing to do. If the task is running, a call costs
  /// two atomic loads. If the system cannot create a thread, nothing is monitored until a later call succeeds.
  package func start(for budget: MemoryBudget) {
    guard isEnabled, !isRunning, isNeeded(for: budget),
      running.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing)
        .exchanged
    else { return }
    // The callers include synchronous functions, which must not wait for memory. Starting a task may do so: if the
    // cooperative pool needs a thread, libdispatch retries once a second until the system can create that thread. A
    // thread of its own starts the task, so that only this thread waits.
    let hasStarted = startOnThread { [self] in
      Task.detached(priority: .utility) { await self.monitor(budget) }
    }
    if !hasStarted { running.store(false, ordering: .releasing) }
  }

  /// Takes readings until there is nothing left to monitor.
  private func monitor(_ budget: MemoryBudget) async {
    findings.withLock { $0 = Findings() }
    // The task retains the budget until there is nothing left to monitor. Unless the budget is reduced, this is at most
    // one interval longer than the owners of the budget retain it.
    while isEnabled, isNeeded(for: budget) {
      poll(budget)
      planLook(for: budget)
      do { try await clock.sleep(for: pause(for: budget)) } catch { break }
    }
    if !isEnabled { budget.forgetFindings() }
    running.store(false, ordering: .releasing)
    // Bytes may have been stored after the last reading, while this task still counted as running. The task is started
    // again for these bytes.
    start(for: budget)
  }

  /// Takes one reading, sets the pressure and the ceiling of the budget, and returns the current level.
  ///
  /// Changes are logged under `zoetrope.memory`: a warning when the pressure rises or the group has less room than the
  /// budget needs, and a notice when either condition ends. Each call reads about five small files, in 50 µs.
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
      "pressure": "\(level)", "limit": "\(budget.effectiveLimit)", "used": "\(budget.byteCount)",
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

  /// Reads the room in the control group if much of the room has been filled since the last reading, because a cache
  /// can fill a small group within one interval. Otherwise, a call costs two atomic loads.
  ///
  /// - Returns: Whether a reading was taken.
  package func lookIfDue(for budget: MemoryBudget) -> Bool {
    guard isEnabled else { return false }
    let due = nextLook.load(ordering: .relaxed)
    // Only the thread that clears the schedule takes the reading.
    guard budget.byteCount >= due,
      nextLook.compareExchange(expected: due, desired: .max, ordering: .relaxed).exchanged
    else { return false }
    _ = budget.fit(read)
    planLook(for: budget)
    return true
  }

  /// Schedules the next reading for the moment when a quarter of the room has been filled. If little room is left,
  /// schedules no reading, because then the budget's own limit applies.
  private func planLook(for budget: MemoryBudget) {
    let used = budget.byteCount
    let room = budget.effectiveLimit - used
    nextLook.store(
      room < Self.leastRoom ? .max : max(used + room / 4, Self.threshold), ordering: .relaxed)
  }

  /// Returns the time until the next reading. This is a tenth of the interval if bytes are held and the control group
  /// has less room than the budget could use, otherwise the interval.
  private func pause(for budget: MemoryBudget) -> Duration {
    budget.byteCount >= Self.threshold && budget.lacksRoom(since: false) ? interval / 10 : interval
  }

  /// Returns whether monitoring must continue. While the budget is reduced, monitoring continues even if nothing is
  /// held, until the budget is restored.
  private func isNeeded(for budget: MemoryBudget) -> Bool {
    budget.byteCount >= Self.threshold || budget.effectiveLimit < budget.byteLimit
  }
}

extension MemoryBudget {
  /// The default limit of a budget. It is a quarter of the memory that this process may use (the machine's memory or
  /// the lowest limit of the process's control groups, whichever is less), clamped to 16...512 MiB.
  ///
  /// A quarter leaves room for the rest of the program. 512 MiB hold 128 canvases of one megapixel; beyond that,
  /// decoding again is cheaper than using more memory. 16 MiB hold one large canvas with its checkpoints.
  public static let defaultByteLimit = defaultByteLimit(of: MachineMemory().byteLimit)

  package static func defaultByteLimit(of memory: Int) -> Int {
    min(max(memory / 4, 16 << 20), 512 << 20)
  }
}

/// Parsers of the memory files in `/proc` and `/sys/fs/cgroup`. The parsers are pure functions of text.
package enum MemoryFacts {
  /// Parses a number of bytes in a control-group file. Returns nil for `max`, for the number that means `max` in
  /// version 1 (close to 2⁶³), and for anything else that is not a number of bytes.
  package static func byteCount(_ text: some StringProtocol) -> Int? {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 1, let value = Int(words[0]), 0..<1 << 60 ~= value else { return nil }
    return value
  }

  /// Parses the counters of `memory.events` and returns them, keyed by name.
  package static func events(_ text: String) -> [String: Int] {
    var counters: [String: Int] = [:]
    for line in text.split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: " ")
      guard fields.count == 2, let value = Int(fields[1]) else { continue }
      counters[String(fields[0])] = value
    }
    return counters
  }

  /// Parses the ten-second averages of a pressure-stall file: `some`, the percentage of time in which some tasks waited
  /// for memory, and `full`, the percentage of time in which all tasks waited. Returns nil if the file contains no
  /// average for `some`.
  package static func stall(_ text: String) -> (some: Double, full: Double)? {
    var some: Double?
    var full: Double?
    for line in text.split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: " ")
      guard let average = fields.first(where: { $0.hasPrefix("avg10=") }),
        let value = Double(average.dropFirst(6)), value.isFinite
      else { continue }
      if fields.first == "some" { some = value }
      if fields.first == "full" { full = value }
    }
    return some.map { ($0, full ?? 0) }
  }
}
