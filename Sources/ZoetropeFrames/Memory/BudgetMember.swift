internal import DequeModule
internal import Synchronization

/// An object whose memory is charged to a ``MemoryBudget`` and that can release some of this memory.
package protocol BudgetMember: AnyObject, Sendable {
  /// The record that the budget keeps of this member.
  var share: BudgetShare { get }
  /// Frees at least `byteCount` bytes if possible, refunds the freed bytes to the budget, and returns their number.
  ///
  /// This method is called with no lock of the budget held.
  func shed(_ byteCount: Int) -> Int
}

/// The record that a ``MemoryBudget`` keeps of one of its members.
package final class BudgetShare: Sendable {
  /// The purpose for which the member uses its bytes.
  package let kind: MemoryBudget.Kind
  fileprivate let bytes = Atomic<Int>(0)
  fileprivate let use = Atomic<UInt64>(0)
  fileprivate let listed = Atomic<Bool>(false)

  package init(_ kind: MemoryBudget.Kind) { self.kind = kind }

  /// The number of bytes that have been charged and not refunded.
  package var heldBytes: Int { bytes.load(ordering: .relaxed) }
  /// The time on the budget's clock at which the member was last used.
  package var lastUse: UInt64 { use.load(ordering: .relaxed) }

  /// Records that the member was used at `time`.
  func stamp(_ time: UInt64) { use.store(time, ordering: .relaxed) }

  /// Adds `byteCount` to the number of bytes held, and returns the new number.
  func add(_ byteCount: Int) -> Int { bytes.add(byteCount, ordering: .relaxed).newValue }

  /// Sets whether the budget lists the member. Returns whether this changed.
  func list(_ isListed: Bool) -> Bool {
    listed.compareExchange(
      expected: !isListed, desired: isListed, ordering: .sequentiallyConsistent
    ).exchanged
  }
}

/// The members of one budget that hold bytes of one kind, in approximate order of use.
///
/// The order is exact if there are few members. Otherwise it is approximated by the clock algorithm: a member that has
/// been used since the hand last passed it moves to the end, so each step of the hand is paid for by a use. Sorting the
/// members for every stored frame would take time linear in the number of players.
struct BudgetRing: Sendable {
  private struct Entry: Sendable {
    let share: BudgetShare
    weak var member: (any BudgetMember)?
    var stamp: UInt64
  }

  private var entries: Deque<Entry> = []
  /// The number of members up to which the least recently used member is found by comparing all members.
  private static let exactCount = 8
  /// The number of entries at which the next sweep takes place.
  private var sweepCount = 64

  /// The number of entries, including those of deallocated members.
  var count: Int { entries.count }

  /// Adds `member` as the most recently used member.
  mutating func append(_ member: any BudgetMember) {
    if count >= sweepCount { sweep() }
    entries.append(Entry(share: member.share, member: member, stamp: member.share.lastUse))
  }

  /// Returns the least recently used member, or nil if no member is left. If there are many members, the result is
  /// approximate, and may also be nil if members are used during the search.
  mutating func oldest() -> (any BudgetMember)? {
    if count <= Self.exactCount,
      let place = entries.indices.min(by: {
        entries[$0].share.lastUse < entries[$1].share.lastUse
      })
    {
      entries.swapAt(0, place)
      entries[0].stamp = entries[0].share.lastUse
    }
    // The loop visits every member once, which renews the member's stamp, and then the first member again, because
    // members may be used during the loop.
    for _ in 0...count {
      guard let entry = entries.first else { return nil }
      if entry.share.lastUse == entry.stamp, let member = entry.member { return member }
      entries.removeFirst()
      if entry.share.heldBytes == 0, entry.share.list(false) {
        // A concurrent charge may have seen that the member was still listed, and so may not have listed it again.
        guard entry.share.heldBytes > 0, entry.share.list(true) else { continue }
      }
      // The entry is copied instead of the member: a strong reference to the member might become the last one and be
      // released under the lock.
      var moved = entry
      moved.stamp = entry.share.lastUse
      entries.append(moved)
    }
    return nil
  }

  /// Removes the first entry if its record is `share`. Returns whether it was removed.
  mutating func removeFirst(_ share: BudgetShare) -> Bool {
    guard entries.first?.share === share else { return false }
    entries.removeFirst()
    return true
  }

  /// Removes the entries of all members that hold nothing, whether or not the members have been deallocated.
  ///
  /// A budget that is never full never calls ``oldest()``, so without sweeps the entries of deallocated members would
  /// accumulate. A sweep takes amortized constant time per appended entry: at least half of the visited entries were
  /// appended since the previous sweep.
  private mutating func sweep() {
    entries.removeAll { entry in
      guard entry.share.heldBytes == 0, entry.share.list(false) else { return false }
      // A concurrent charge may have seen that the member was still listed, and so may not have listed it again.
      return entry.share.heldBytes == 0 || !entry.share.list(true)
    }
    sweepCount = max(64, 2 * count)
  }
}
