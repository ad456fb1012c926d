import Synchronization
import TestRunning

/// A count that several tasks raise.
final class Tally: Sendable {
  private let value = Atomic<Int>(0)

  /// Adds to it; gives the new count.
  @discardableResult func add(_ amount: Int = 1) -> Int {
    value.add(amount, ordering: .acquiringAndReleasing).newValue
  }

  /// The count so far.
  var count: Int { value.load(ordering: .acquiring) }

  /// Returns when the count is `goal` or more.
  func reach(_ goal: Int) async { await eventually { count >= goal } }
}
