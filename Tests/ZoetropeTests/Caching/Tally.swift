import Synchronization

/// A count that several tasks raise.
final class Tally: Sendable {
  private let value = Atomic<Int>(0)

  /// Adds to it; gives the new count.
  @discardableResult func add(_ amount: Int = 1) -> Int {
    value.add(amount, ordering: .acquiringAndReleasing).newValue
  }

  /// The count so far.
  var count: Int { value.load(ordering: .acquiring) }
}
