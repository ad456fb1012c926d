internal import Synchronization

/// Something that charges a ``MemoryBudget`` and can give memory back.
package protocol BudgetMember: AnyObject, Sendable {
  /// What the budget knows of it.
  var share: BudgetShare { get }
  /// Frees at least `byteCount` bytes if it can, refunds them, and says how many it freed.
  ///
  /// Called with no lock of the budget held.
  func shed(_ byteCount: Int) -> Int
}

/// What a ``MemoryBudget`` knows of one of its members.
package final class BudgetShare: Sendable {
  /// What the bytes are held for.
  package let kind: MemoryBudget.Kind
  fileprivate let bytes = Atomic<Int>(0)
  fileprivate let use = Atomic<UInt64>(0)
  fileprivate let listed = Atomic<Bool>(false)

  package init(_ kind: MemoryBudget.Kind) { self.kind = kind }

  /// Bytes charged and not given back.
  package var heldBytes: Int { bytes.load(ordering: .relaxed) }
  /// The budget's time at which it was used last.
  package var lastUse: UInt64 { use.load(ordering: .relaxed) }

  /// Notes that it is used at `time`.
  func stamp(_ time: UInt64) { use.store(time, ordering: .relaxed) }

  /// Gives what is held afterwards.
  func add(_ byteCount: Int) -> Int { bytes.add(byteCount, ordering: .relaxed).newValue }

  /// Marks it as listed, or not; gives whether that changed anything.
  func list(_ isListed: Bool) -> Bool {
    listed.compareExchange(
      expected: !isListed, desired: isListed, ordering: .sequentiallyConsistent
    ).exchanged
  }
}

/// The members of one budget that hold something of one kind, nearly in order of use.
///
/// The order is exact where they are few. Otherwise a clock hand approximates it: a member that was used
/// since the hand passed moves to the end, so each step of the hand is paid for by a use. Sorting all
/// members for every stored frame would cost more the more players there are.
struct BudgetRing: Sendable {
  private struct Entry: Sendable {
    let share: BudgetShare
    weak var member: (any BudgetMember)?
    var stamp: UInt64
  }

  private var entries: [Entry] = []
  private var head = 0
  /// Up to this many members, the least recently used one is found by comparing all.
  private static let exactCount = 8
  /// The number of entries at which those that hold nothing are removed.
  private var sweepCount = 64

  /// Members, with those that are gone but not noticed yet.
  var count: Int { entries.count - head }

  /// Adds `member` as the most recently used one.
  mutating func append(_ member: any BudgetMember) {
    if count >= sweepCount { sweep() }
    entries.append(Entry(share: member.share, member: member, stamp: member.share.lastUse))
  }

  /// The member that was used longest ago.
  mutating func oldest() -> (any BudgetMember)? {
    if count <= Self.exactCount,
      let place = (head..<entries.count).min(by: {
        entries[$0].share.lastUse < entries[$1].share.lastUse
      })
    {
      entries.swapAt(head, place)
      entries[head].stamp = entries[head].share.lastUse
    }
    // Every member once, which renews its stamp, and the first again: uses may go on meanwhile.
    for _ in 0...count {
      guard head < entries.count else { return nil }
      let entry = entries[head]
      if entry.share.lastUse == entry.stamp, let member = entry.member { return member }
      dropFirst()
      if entry.share.heldBytes == 0, entry.share.list(false) {
        // Who charged meanwhile may have found it listed.
        guard entry.share.heldBytes > 0, entry.share.list(true) else { continue }
      }
      // Copied as it is: a reference to the member might be the last one, let go under the lock.
      var moved = entry
      moved.stamp = entry.share.lastUse
      entries.append(moved)
    }
    return nil
  }

  /// Takes the first one away, if it is the one with `share`.
  mutating func removeFirst(_ share: BudgetShare) -> Bool {
    guard head < entries.count, entries[head].share === share else { return false }
    dropFirst()
    return true
  }

  /// Removes the entries that hold nothing, whether or not their members are gone.
  ///
  /// A budget that is never full asks for no ``oldest()``, so entries of deallocated members would pile
  /// up. At least half as many entries as are visited were appended since the last sweep.
  private mutating func sweep() {
    entries.removeFirst(head)
    head = 0
    entries.removeAll { entry in
      guard entry.share.heldBytes == 0, entry.share.list(false) else { return false }
      // A charge made meanwhile may have found the member listed.
      return entry.share.heldBytes == 0 || !entry.share.list(true)
    }
    sweepCount = max(64, 2 * count)
  }

  private mutating func dropFirst() {
    head += 1
    if head > 32, head > entries.count / 2 {
      entries.removeFirst(head)
      head = 0
    }
  }
}
