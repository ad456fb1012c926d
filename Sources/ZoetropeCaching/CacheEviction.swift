extension CacheTable {
  /// An animation is stale if the bytes stored since its last use exceed this factor times the byte limit.
  private static let staleFactor = 8
  /// The number of animations sampled to find a large one.
  private static let sampleCount = 8
  /// The number of most recently used animations that keep their frames when an animation that is not being played
  /// needs room.
  private static let sparedCount = 8

  /// Evicts and returns one frame, or returns nil if only protected frames are left: the two most recent frames of each
  /// held animation.
  ///
  /// Scrolling through a list requests more frames than fit in the cache, and requests each frame again only after all
  /// the others. LRU would always evict the frame needed next, and every lookup would miss. Here, the frames stored
  /// first stay as long as they are still requested, and newer frames evict each other:
  /// - The frames of stale animations are evicted first. An animation is stale if the bytes stored since its last use
  ///   exceed eight times `limit`.
  /// - An animation that is likely to repeat its frames evicts the frames of animations that are not being played,
  ///   beginning with the most recently used of these. An animation is likely to repeat its frames if it has shown
  ///   a frame twice, or if it is being played and most recent players repeated their animations.
  /// - Any other animation evicts its own frames.
  /// - If these rules find no frame, one of the largest animations loses a frame.
  ///
  /// Within an animation played in order, the most recently shown frame is evicted, not counting the two newest,
  /// because a loop needs that frame last. (If a loop does not fit, LRU and second chance never hit.) In other
  /// animations, the least recently used frame is evicted.
  ///
  /// Eviction takes constant time.
  ///
  /// - Parameter limit: The maximum cost of all frames, in bytes.
  mutating func evict(limit: Int) -> CachedFrame? {
    guard let group = victimGroup(limit: limit) else { return nil }
    statistics.evictions += 1
    return remove(victimSlot(in: group))
  }

  private mutating func victimGroup(limit: Int) -> Int? {
    let oldest = released.oldest
    if oldest >= 0, admitted - groups[oldest].stamp > limit.multipliedClamping(by: Self.staleFactor)
    {
      return oldest
    }
    guard storing >= 0 else { return oldest >= 0 ? oldest : largestHeld() }
    let isHeld = groups[storing].holds > 0
    let idle = releasedGroup(sparing: isHeld ? 0 : Self.sparedCount)
    if idle >= 0, groups[storing].hasLooped || (isHeld && loopVotes >= 0) { return idle }
    let own = evictableCost(of: storing)
    if isHeld {
      guard let largest = largestHeld() else { return idle >= 0 ? idle : nil }
      // If all animations are equally large, the sample may miss the one that is storing.
      if own > 0, 2 * own > evictableCost(of: largest) { return storing }
      return idle >= 0 ? idle : largest
    }
    if idle >= 0, own < groups[idle].cost { return idle }
    if own > 0 { return storing }
    // The storing animation is not being played, so even its newest frames may be evicted.
    return idle >= 0 ? idle : largestHeld() ?? storing
  }

  /// Searches the animations that are not being played, the most recently used first, leaving out the animation that is
  /// storing a frame. Skips `count` animations and returns the next one. If there are too few, returns the least
  /// recently used one, or -1 if there is none.
  private func releasedGroup(sparing count: Int) -> Int {
    var group = released.newest
    var found = -1
    var left = count
    while group >= 0, left >= 0 {
      if group != storing {
        found = group
        left -= 1
      }
      group = groups[group].links.older
    }
    return found
  }

  /// Returns the largest of a rotating sample of held animations, or nil if none of the sample has evictable frames.
  private mutating func largestHeld() -> Int? {
    var largest: Int?
    var largestCost = 0
    for _ in 0..<Self.sampleCount {
      let group = held.oldest
      guard group >= 0 else { break }
      let cost = evictableCost(of: group)
      if cost > largestCost { (largest, largestCost) = (group, cost) }
      guard held.newest != group else { break }
      unlink(group: group)
      linkNewest(group: group)
    }
    return largest
  }

  private func victimSlot(in group: Int) -> Int {
    let frames = groups[group].frames
    guard groups[group].holds > 0 || group == storing else { return frames.newest }
    let pattern = groups[group].pattern
    let isPlayed = groups[group].holds > 0 ? pattern.isOrderly : pattern.isLoop
    guard isPlayed, groups[group].count > Self.floor else { return frames.oldest }
    var slot = frames.newest
    for _ in 0..<Self.floor { slot = slots[slot].links.older }
    return slot
  }

  /// Returns the number of bytes of the evictable frames of `group`. These are all frames, except the two newest if the
  /// group is held or storing.
  private func evictableCost(of group: Int) -> Int {
    guard groups[group].holds > 0 || group == storing else { return groups[group].cost }
    return groups[group].cost - newestCost(of: group)
  }

  /// Returns the number of bytes of those frames of `group` that are never evicted.
  func floorCost(of group: Int) -> Int { groups[group].holds > 0 ? newestCost(of: group) : 0 }

  private func newestCost(of group: Int) -> Int {
    var cost = 0
    var slot = groups[group].frames.newest
    for _ in 0..<Self.floor where slot >= 0 {
      cost += slots[slot].frame?.byteCount ?? 0
      slot = slots[slot].links.older
    }
    return cost
  }

  /// The number of bytes of all frames that are never evicted.
  var heldCost: Int {
    groupOf.values.reduce(0) { $0 + floorCost(of: $1) }
  }
}

extension Int {
  /// Returns the product, clamped to `Int.max`.
  fileprivate func multipliedClamping(by factor: Int) -> Int {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }
}
