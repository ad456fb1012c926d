internal import Synchronization

/// Keeps rendered frames in memory, within a ``MemoryBudget`` that all images and players share.
///
/// Charges the bytes that bitmaps really hold. A hit takes well under a microsecond, allocates nothing
/// and copies nothing: the bitmap that comes back is the one that was stored. One lock guards the
/// table, held for some 100 ns: two threads that do nothing but hit still take under half a
/// microsecond each, and a hundred players at 60 frames a second ask 6000 times. So the table is not
/// split, which would split the order of use too. Bitmaps are freed outside of the lock.
public final class MemoryFrameCache: FrameCaching {
  /// The cache of this process, on ``MemoryBudget/shared``.
  public static let shared = MemoryFrameCache()

  /// Bitmaps held at most.
  public let countLimit: Int
  /// Bytes held at most, whatever the budget has left.
  public let costLimit: Int
  /// The budget that is charged.
  public let budget: MemoryBudget

  /// Where frames that are not in memory are looked for, and all are kept beyond the process; nil for
  /// nowhere.
  public let backing: FrameStore?

  private let table = Mutex(CacheTable())
  package let share = BudgetShare(.frames)

  /// An empty cache. By default only ``MemoryBudget/shared`` limits it.
  ///
  /// - Parameter backing: The second level: asked for what is not in memory, and given what is stored.
  ///   Its frames take no memory here. Default: nil, none.
  public init(
    costLimit: Int = .max, countLimit: Int = .max, budget: MemoryBudget = .shared,
    backing: FrameStore? = nil
  ) {
    self.backing = backing
    self.costLimit = max(costLimit, 0)
    self.countLimit = max(countLimit, 0)
    self.budget = budget
  }

  deinit { budget.refundAll(of: share) }

  /// The frame stored under `key`, if it is still there. Allocates and copies nothing, unless it comes
  /// from ``backing``, which allocates a few words.
  public func frame(for key: FrameKey) -> CachedFrame? {
    budget.stamp(share)
    return table.withLock { $0.lookUp(key) } ?? backing?.frame(for: key)
  }

  /// The last frame of `range` that is there. Counts neither as a use nor as a miss.
  package func lastBitmap(
    in range: Range<Int>, of animation: AnimationKey
  ) -> (index: Int, canvas: Bitmap)? {
    table.withLock { $0.last(in: range, of: animation) }
  }

  /// Keeps `frame` under `key` and evicts what no longer fits.
  ///
  /// A frame that alone passes a limit is not kept unless its animation is held.
  public func store(_ frame: CachedFrame, for key: FrameKey) {
    budget.stamp(share)
    // Freed when this goes, after the lock is given back.
    var dropped: [CachedFrame] = []
    table.withLock { table in
      let limit = min(costLimit, budget.effectiveLimit)
      guard (frame.cost <= limit && countLimit > 0) || table.isHeld(key.animation) else {
        table.statistics.rejections += 1
        return
      }
      let before = table.statistics.cost
      if let old = table.insert(frame, for: key) { dropped.append(old) }
      while table.statistics.cost > costLimit || table.statistics.count > countLimit {
        guard let old = table.evict(limit: limit) else { break }
        dropped.append(old)
      }
      budget.charge(table.statistics.cost - before, to: self)
    }
    budget.settle()
    backing?.store(frame, for: key)
  }

  /// True when there is a ``backing``.
  public var mayBlock: Bool { backing != nil }

  /// The identity in the ``backing``'s keys, if there is one.
  public func identity(
    of image: AnimatedImage, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity {
    guard let backing else { return try image.contentIdentity(isCancelled: isCancelled) }
    return try backing.identity(of: image, isCancelled: isCancelled)
  }

  /// Forgets every frame of the image with these bytes, floors included.
  public func remove(_ content: ContentIdentity) {
    backing?.remove(content)
    remove { $0.content == content }
  }

  /// Forgets every frame, floors included. Bitmaps in use elsewhere live on there.
  ///
  /// The canvases that are kept for seeking are given up too, those of all images that are charged to
  /// the same budget.
  public func removeAll() {
    backing?.removeAll()
    remove { _ in true }
    budget.removeAll(of: .checkpoints)
  }

  /// Keeps the two frames of `animation` used last from eviction until the hold ends.
  public func hold(_ animation: AnimationKey) -> FrameHold {
    table.withLock { $0.hold(animation) }
    return FrameHold { [weak self] in
      guard let self else { return }
      table.withLock { $0.release(animation) }
      budget.settle()
    }
  }

  /// What it holds and has done. Takes time in proportion to the animations held.
  public var statistics: CacheStatistics {
    table.withLock { table in
      var statistics = table.statistics
      statistics.heldCost = table.heldCost
      return statistics
    }
  }

  private func remove(where condition: (AnimationKey) -> Bool) {
    let removed = table.withLock { table in
      let before = table.statistics.cost
      let removed = table.remove(where: condition)
      budget.charge(table.statistics.cost - before, to: self)
      return removed
    }
    // Named so that the bitmaps outlive the lock.
    _ = consume removed
  }

  /// What is wrong with the table, for tests; empty when nothing is.
  package func faults() -> [String] { table.withLock { $0.faults() } }
}

extension MemoryFrameCache: BudgetMember {
  package func shed(_ byteCount: Int) -> Int {
    var dropped: [CachedFrame] = []
    return table.withLock { table in
      let before = table.statistics.cost
      let limit = min(costLimit, budget.effectiveLimit)
      while before - table.statistics.cost < byteCount, let old = table.evict(limit: limit) {
        dropped.append(old)
      }
      let freed = before - table.statistics.cost
      budget.refund(freed, of: share)
      return freed
    }
  }
}
