internal import DequeModule
internal import Synchronization

/// An object whose memory is charged to a ``MemoryBudget`` and that can release some of it.
package protocol BudgetMember: AnyObject, Sendable {
  /// The budget's record of this member.
  var share: BudgetShare { get }
  /// Frees at least `byteCount` bytes if possible, refunds them and returns the number of bytes freed.
  ///
  /// Called with no lock of the budget held.
  func shed(_ byteCount: Int) -> Int
}

/// A ``MemoryBudget``'s record of one of its members.
package final class BudgetShare: Sendable {
  /// What the bytes are used for.
  package let kind: MemoryBudget.Kind
  fileprivate let bytes = Atomic<Int>(0)
  fileprivate let use = Atomic<UInt64>(0)
  fileprivate let listed = Atomic<Bool>(false)

  package init(_ kind: MemoryBudget.Kind) { self.kind = kind }

  /// Bytes charged and not refunded.
  package var heldBytes: Int { bytes.load(ordering: .relaxed) }
  /// The budget's time when the member was last used.
  package var lastUse: UInt64 { use.load(ordering: .relaxed) }

  /// Records a use at `time`.
  func stamp(_ time: UInt64) { use.store(time, ordering: .relaxed) }

  /// Adds `byteCount` and returns the new total.
  func add(_ byteCount: Int) -> Int { bytes.add(byteCount, ordering: .relaxed).newValue }

  /// Sets whether the member is listed. Returns whether that changed.
  func list(_ isListed: Bool) -> Bool {
    listed.compareExchange(
      expected: !isListed, desired: isListed, ordering: .sequentiallyConsistent
    ).exchanged
  }
}

/// The members of one budget that hold bytes of one kind, in approximate order of use.
///
/// The order is exact for few members. Otherwise it is approximated by the clock algorithm: a member used since the
/// hand last passed it moves to the end, so each step is amortized by a use. Sorting for every stored frame would take
/// time linear in the number of players.
struct BudgetRing: Sendable {
  private struct Entry: Sendable {
    let share: BudgetShare
    weak var member: (any BudgetMember)?
    var stamp: UInt64
  }

  private var entries: Deque<Entry> = []
  /// Up to this many members, the least recently used one is found by comparing all.
  private static let exactCount = 8
  /// The number of entries that triggers the next sweep.
  private var sweepCount = 64

  /// Number of entries, including those of deallocated members.
  var count: Int { entries.count }

  /// Adds `member` as the most recently used one.
  mutating func append(_ member: any BudgetMember) {
    if count >= sweepCount { sweep() }
    entries.append(Entry(share: member.share, member: member, stamp: member.share.lastUse))
  }

  /// Returns the least recently used member.
  mutating func oldest() -> (any BudgetMember)? {
    if count <= Self.exactCount,
      let place = entries.indices.min(by: {
        entries[$0].share.lastUse < entries[$1].share.lastUse
      })
    {
      entries.swapAt(0, place)
      entries[0].stamp = entries[0].share.lastUse
    }
    // Visit every member once, which renews its stamp, and then the first one again, because members may be used
    // meanwhile.
    for _ in 0...count {
      guard let entry = entries.first else { return nil }
      if entry.share.lastUse == entry.stamp, let member = entry.member { return member }
      entries.removeFirst()
      if entry.share.heldBytes == 0, entry.share.list(false) {
        // A concurrent charge may have seen the member while it was still listed.
        guard entry.share.heldBytes > 0, entry.share.list(true) else { continue }
      }
      // Copy the entry, not the member: a strong reference might become the last one and be
      // released under the lock.
      var moved = entry
      moved.stamp = entry.share.lastUse
      entries.append(moved)
    }
    return nil
  }

  /// Removes the first entry if its record is `share`.
  mutating func removeFirst(_ share: BudgetShare) -> Bool {
    guard entries.first?.share === share else { return false }
    entries.removeFirst()
    return true
  }

  /// Removes the entries of members that hold nothing, deallocated or not.
  ///
  /// A budget that is never full never calls ``oldest()``, so entries of deallocated members would
  /// accumulate. Amortized constant: at least half of the visited entries were appended since the
  /// last sweep.
  private mutating func sweep() {
    entries.removeAll { entry in
      guard entry.share.heldBytes == 0, entry.share.list(false) else { return false }
      // A concurrent charge may have seen the member while it was still listed.
      return entry.share.heldBytes == 0 || !entry.share.list(true)
    }
    sweepCount = max(64, 2 * count)
  }
}
