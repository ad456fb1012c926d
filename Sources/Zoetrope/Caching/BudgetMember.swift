/// Something that charges a ``MemoryBudget`` and can give memory back.
package protocol BudgetMember: AnyObject, Sendable {
  /// What it holds.
  var kind: MemoryBudget.Kind { get }
  /// The budget's time at which it was used last.
  var lastUse: UInt64 { get }
  /// Frees at least `byteCount` bytes if it can, refunds them, and says how many it freed.
  ///
  /// Called with no lock of the budget held.
  func shed(_ byteCount: Int) -> Int
}
