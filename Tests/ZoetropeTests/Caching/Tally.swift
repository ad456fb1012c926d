import Synchronization

/// A count that several tasks raise.
final class Tally: Sendable {
  private let value = Atomic<Int>(0)

  /// Adds one; gives the new count.
  @discardableResult func add() -> Int { value.add(1, ordering: .relaxed).newValue }

  /// The count so far.
  var count: Int { value.load(ordering: .relaxed) }
}
