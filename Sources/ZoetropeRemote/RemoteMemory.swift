internal import Synchronization

/// The account of the memory of a remote image. It charges the bytes that the image keeps to a budget, and drops cached
/// bytes when the budget demands memory.
///
/// Pinned bytes belong to frames being decoded and are not dropped.
final class RemoteMemory: Sendable {
  let share = BudgetShare(.images)
  private let cache: ByteRangeCache
  private let budget: MemoryBudget
  /// The bytes charged for the cache.
  private let charged = Mutex(0)

  init(_ cache: ByteRangeCache, budget: MemoryBudget) {
    self.cache = cache
    self.budget = budget
  }

  deinit { budget.refundAll(of: share) }

  func note(_ change: RangeFetcher.Change) {
    switch change {
    case .pinned(let count):
      budget.charge(count, to: self)
      if count < 0 { return }
    case .cached: chargeCache()
    }
    budget.stamp(share)
    budget.settle()
  }

  /// Charges the bytes that the cache holds now.
  private func chargeCache() {
    charged.withLock { charged in
      let count = cache.byteCount
      budget.charge(count - charged, to: self)
      charged = count
    }
  }
}

extension RemoteMemory: BudgetMember {
  func shed(_ byteCount: Int) -> Int {
    let freed = cache.remove(byteCount)
    chargeCache()
    return freed
  }
}
