internal import Synchronization

/// An in-memory cache of rendered frames, limited by a ``MemoryBudget`` shared by all images and players.
///
/// The cache charges the bytes that bitmaps occupy, including padding. A hit takes well under a microsecond and neither
/// allocates nor copies: it returns the stored bitmap itself. Any thread may use the cache.
public final class MemoryFrameCache: QuickCaching {
  /// The cache shared by the whole process, charged to ``MemoryBudget/shared``.
  public static let shared = MemoryFrameCache()

  /// The maximum number of bitmaps.
  package let countLimit: Int
  /// The maximum number of bytes, even if the budget has more left.
  public let byteLimit: Int
  /// The budget that bitmaps are charged to.
  package let budget: MemoryBudget

  /// The second-level cache, such as a ``FrameStore``, or nil if there is none. Frames that are not in memory are
  /// looked up there, and stored frames are kept there beyond the life of the process.
  public let backing: (any FrameCaching)?

  // There is one table. With shards, each shard would know only the order in which its own frames were used, so the
  // least recently used frame of the whole cache could not be found. Bitmaps are freed outside the lock.
  private let table = Mutex(CacheTable())
  package let share = BudgetShare(.frames)

  /// Creates an empty cache. By default only ``MemoryBudget/shared`` limits it.
  ///
  /// - Parameters:
  ///   - byteLimit: The maximum number of bytes, even if the budget has more left. Default: no limit.
  ///   - countLimit: The maximum number of bitmaps. Default: no limit.
  ///   - budget: The budget that bitmaps are charged to. Default: ``MemoryBudget/shared``.
  ///   - backing: The second-level cache, which is queried for frames that are not in memory and is given every frame
  ///     to be stored. Frames from the second-level cache are not copied into this cache. Default: nil, which means
  ///     that there is no second level.
  public init(
    byteLimit: Int = .max, countLimit: Int = .max, budget: MemoryBudget = .shared,
    backing: (any FrameCaching)? = nil
  ) {
    self.backing = backing
    self.byteLimit = max(byteLimit, 0)
    self.countLimit = max(countLimit, 0)
    self.budget = budget
  }

  deinit { budget.refundAll(of: share) }

  /// Returns the frame stored under `key`, or nil if there is none. Copies nothing, and allocates nothing except a few
  /// words for a frame from ``backing``.
  public func frame(for key: FrameKey) -> CachedFrame? {
    budget.stamp(share)
    return table.withLock { $0.lookUp(key) } ?? backing?.frame(for: key)
  }

  /// Returns the last cached frame of `range`, or nil if there is none. The lookup counts neither as a use nor as a
  /// miss.
  package func lastBitmap(
    in range: Range<Int>, of animation: AnimationKey
  ) -> (index: Int, bitmap: Bitmap)? {
    table.withLock { $0.last(in: range, of: animation) }
  }

  /// Stores `frame` under `key`, and evicts frames to stay within the limits.
  ///
  /// A frame that exceeds a limit on its own is stored only while its animation is being played.
  public func storeIfPossible(_ frame: CachedFrame, for key: FrameKey) {
    budget.stamp(share)
    // Dropped frames are kept here, so that they are freed after the lock is released.
    var dropped: [CachedFrame] = []
    table.withLock { table in
      let limit = min(byteLimit, budget.effectiveLimit)
      guard (frame.byteCount <= limit && countLimit > 0) || table.isHeld(key.animation) else {
        table.statistics.rejections += 1
        return
      }
      let before = table.statistics.byteCount
      if let old = table.insert(frame, for: key) { dropped.append(old) }
      while table.statistics.byteCount > byteLimit || table.statistics.count > countLimit {
        guard let old = table.evict(limit: limit) else { break }
        dropped.append(old)
      }
      budget.charge(table.statistics.byteCount - before, to: self)
    }
    budget.settle()
    backing?.storeIfPossible(frame, for: key)
  }

  /// Whether the ``backing`` may block; false if there is no backing.
  public var mayBlock: Bool { backing?.mayBlock ?? false }

  /// Returns the identity that the ``backing`` uses for `image` in its keys or, if there is no backing, the identity of
  /// `image` in this process.
  public func identity(
    of image: AnimatedImage, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity {
    guard let backing else { return try image.contentIdentity(isCancelled: isCancelled) }
    return try backing.identity(of: image, isCancelled: isCancelled)
  }

  /// Removes every frame of the image with this content, here and in the ``backing``, even if the image is being
  /// played.
  public func remove(_ content: ContentIdentity) {
    backing?.remove(content)
    remove { $0.content == content }
  }

  /// Removes the frames that are stored in `format` for the image with this content, here and in the ``backing``.
  public func remove(_ content: ContentIdentity, in format: FrameFormat) {
    formats?.remove(content, in: format)
    guard let name = format.rendering.table else { return }
    remove { $0.rendition.table == name && $0.content == content }
  }

  /// Removes, here and in the ``backing``, all frames that are stored in a format with the same name as `format`,
  /// whatever image they belong to. The other parameters of `format` have no effect.
  public func removeAll(in format: FrameFormat) {
    formats?.removeAll(in: format)
    guard let name = format.rendering.table else { return }
    remove { $0.rendition.table?.prefix == name.prefix }
  }

  /// The first cache behind this one that keeps frames in several formats, or nil if there is none.
  private var formats: (any FormatKeeping)? {
    backing?.levels.lazy.compactMap { $0 as? any FormatKeeping }.first
  }

  /// Removes every frame, here and in the ``backing``, even of animations that are being played. Bitmaps in use
  /// elsewhere stay valid.
  ///
  /// Also releases the seek checkpoints of all images charged to the same budget.
  public func removeAll() {
    backing?.removeAll()
    remove { _ in true }
    budget.removeAll(of: .checkpoints)
  }

  /// Protects the two most recently used frames of `animation` from eviction until the hold ends.
  package func hold(_ animation: AnimationKey) -> FrameHold {
    table.withLock { $0.hold(animation) }
    return FrameHold { [weak self] in
      guard let self else { return }
      table.withLock { $0.release(animation) }
      budget.settle()
    }
  }

  /// The cache's contents and counters. Takes time proportional to the number of animations that are being played.
  public var statistics: CacheStatistics {
    table.withLock { table in
      var statistics = table.statistics
      statistics.heldByteCount = table.heldCost
      return statistics
    }
  }

  private func remove(where condition: (AnimationKey) -> Bool) {
    let removed = table.withLock { table in
      let before = table.statistics.byteCount
      let removed = table.remove(where: condition)
      budget.charge(table.statistics.byteCount - before, to: self)
      return removed
    }
    // Keep the removed bitmaps alive until the lock is released.
    _ = consume removed
  }

  /// Describes the violated invariants of the table, for tests.
  package func faults() -> [String] { table.withLock { $0.faults() } }
}

extension MemoryFrameCache: BudgetMember {
  package func shed(_ byteCount: Int) -> Int {
    var dropped: [CachedFrame] = []
    return table.withLock { table in
      let before = table.statistics.byteCount
      let limit = min(byteLimit, budget.effectiveLimit)
      while before - table.statistics.byteCount < byteCount, let old = table.evict(limit: limit) {
        dropped.append(old)
      }
      let freed = before - table.statistics.byteCount
      budget.refund(freed, of: share)
      return freed
    }
  }
}
