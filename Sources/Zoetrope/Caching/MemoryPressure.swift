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
