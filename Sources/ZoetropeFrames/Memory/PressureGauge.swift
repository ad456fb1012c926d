/// How short of memory the machine or this process's control group is.
///
/// Not an enum, so that later releases can add levels: end a `switch` over it with `default`.
public struct MemoryPressure: Sendable, Hashable, Comparable {
  /// The budget is divided by two to this power.
  let shift: Int

  /// No shortage: the whole budget may be used.
  public static let none = MemoryPressure(shift: 0)
  /// Tasks sometimes wait for memory: half of the budget may be used.
  public static let some = MemoryPressure(shift: 1)
  /// All tasks wait, or the limit was reached: an eighth of the budget may be used.
  public static let severe = MemoryPressure(shift: 3)

  /// Every level, in order.
  package static let allLevels = [none, some, severe]

  /// The level below this one.
  var lower: MemoryPressure { Self.allLevels.last { $0 < self } ?? .none }

  /// Orders by shortage.
  public static func < (left: MemoryPressure, right: MemoryPressure) -> Bool {
    left.shift < right.shift
  }
}

extension MemoryPressure: CustomStringConvertible {
  /// The level's name, as logged.
  public var description: String {
    switch self {
    case .none: "none"
    case .some: "some"
    default: "severe"
    }
  }
}

/// One reading of the memory facts; those that the system does not report are nil.
package struct MemoryReading: Sendable, Hashable {
  /// Percentage of the last ten seconds in which some tasks waited for memory.
  package var someStall: Double?
  /// Percentage of the last ten seconds in which all tasks waited for memory.
  package var fullStall: Double?
  /// Times the group has exceeded `memory.high`.
  package var highEvents: Int?
  /// Times the group has reached `memory.max` or was killed for it.
  package var maxEvents: Int?
  /// Bytes used by the group with the least room, without inactive file pages.
  package var usage: Int?
  /// Bytes that it may use.
  package var limit: Int?
  /// The part of ``usage`` that is active file pages, which the system reclaims before it kills.
  package var filePages: Int?

  /// Bytes that caches may add (or, below 0, must release) so that an eighth of the group's limit,
  /// at most 64 MiB, stays free for canvases in use and for what the rest of the process allocates
  /// between two readings. Nil without a limit.
  package var room: Int? {
    guard let usage, let limit else { return nil }
    return limit - min(limit / 8, 64 << 20) - (usage - (filePages ?? 0))
  }
}

/// Turns readings into a ``MemoryPressure``. A pure value: one reading in, one level out.
///
/// A rise takes effect at once. A fall takes ``calmReadings`` consecutive readings and goes one
/// level at a time, so that a cache does not refill straight into the same limit.
package struct PressureGauge: Sendable, Hashable {
  /// Consecutive lower readings after which the level falls by one.
  package static let calmReadings = 10

  package private(set) var level = MemoryPressure.none
  private var calm = 0
  private var last: MemoryReading?

  package init() {}

  /// Takes one reading and returns the current level.
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

  /// The level of a single reading. At 5 % stall, interactive work feels slow. A group that reads
  /// large files keeps hitting its limit because their pages are charged to it until reclaimed.
  /// That is no shortage unless the other pages fill the limit too.
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
