/// How short the machine, or the control group this process runs in, is of memory.
public enum MemoryPressure: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// Nothing to do: the whole budget may be used.
  case none
  /// Tasks wait for memory now and then: half of the budget.
  case some
  /// All tasks wait, or the limit was reached: an eighth of the budget.
  case severe

  /// The power of two by which the budget is divided.
  var shift: Int {
    switch self {
    case .none: 0
    case .some: 1
    case .severe: 3
    }
  }

  init(shift: Int) {
    self = Self.allCases.last { $0.shift <= shift } ?? .none
  }

  /// Orders by shortness.
  public static func < (left: MemoryPressure, right: MemoryPressure) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// What was read of memory at one moment; parts that the system does not tell are nil.
package struct MemoryReading: Sendable, Hashable {
  /// Per cent of the last ten seconds in which some tasks waited for memory.
  package var someStall: Double?
  /// Per cent of the last ten seconds in which all tasks waited for memory.
  package var fullStall: Double?
  /// How often the group passed `memory.high`, ever.
  package var highEvents: Int?
  /// How often the group reached `memory.max` or was killed for it, ever.
  package var maxEvents: Int?
  /// Bytes that the group with the least room uses, file pages that are not in use aside.
  package var usage: Int?
  /// Bytes that it may use.
  package var limit: Int?
  /// The part of ``usage`` that is file pages in use: given up before anybody is killed.
  package var filePages: Int?

  package init(
    someStall: Double? = nil, fullStall: Double? = nil, highEvents: Int? = nil,
    maxEvents: Int? = nil, usage: Int? = nil, limit: Int? = nil, filePages: Int? = nil
  ) {
    self.someStall = someStall
    self.fullStall = fullStall
    self.highEvents = highEvents
    self.maxEvents = maxEvents
    self.usage = usage
    self.limit = limit
    self.filePages = filePages
  }

  /// Bytes that caches may add (or, below 0, have to give back) so that some of the group's limit stays
  /// free, for canvases under way and for what the rest of the process takes between two looks: an
  /// eighth of it, at most 64 MiB. Nil without a limit.
  package var room: Int? {
    guard let usage, let limit else { return nil }
    return limit - min(limit / 8, 64 << 20) - (usage - (filePages ?? 0))
  }
}

/// Turns readings into a ``MemoryPressure``. A pure value: one reading in, one level out.
///
/// A rise takes effect at once; a fall takes ``calmReadings`` readings in a row and goes one level at
/// a time, so that a cache that was just emptied does not fill up into the same wall.
package struct PressureGauge: Sendable, Hashable {
  /// Readings below the level after which it falls by one.
  package static let calmReadings = 10

  package private(set) var level = MemoryPressure.none
  private var calm = 0
  private var last: MemoryReading?

  package init() {}

  /// Takes one reading and gives the level that holds now.
  package mutating func update(_ reading: MemoryReading) -> MemoryPressure {
    let seen = Self.level(of: reading, after: last)
    last = reading
    if seen >= level {
      level = seen
      calm = 0
    } else {
      calm += 1
      if calm >= Self.calmReadings {
        level = MemoryPressure(rawValue: level.rawValue - 1) ?? .none
        calm = 0
      }
    }
    return level
  }

  /// The level that a reading shows by itself. 5 % of stall is where interactive work is felt to
  /// drag. A group that reads large files runs into its limit for ever, because their pages count as
  /// its own until they are dropped: that is no shortness unless the rest fills the limit too.
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
