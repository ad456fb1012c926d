extension CacheTable {
  /// Stale is what was not used while this many times the limit was stored.
  private static let staleFactor = 8
  /// Animations looked at to find one that holds much.
  private static let sampleCount = 8
  /// Animations used last that an image which nobody plays does not take from.
  private static let sparedCount = 8

  /// Evicts one frame; nil when only floors are left. `limit` is the cost that is to be held.
  ///
  /// A list that is scrolled asks for more frames than fit and comes back to each after all the others,
  /// so evicting what was used longest ago would evict what is needed next, and every frame would
  /// miss. Hence what was stored first stays, as long as anybody comes back to it, and newcomers
  /// take from each other:
  /// - An animation that nobody has asked for while eight times the limit was stored goes first.
  /// - One that is likely to show its frames again takes from those that nobody plays, the one let go
  ///   last first. Likely: it has shown one twice, or it is played and most players before it have.
  /// - Any other takes from itself.
  /// - Where neither has anything to give, one that holds much gives.
  ///
  /// Of an animation that is played in order, the frame shown last goes, but for the two newest,
  /// since a loop needs that one last. (Of a loop that does not fit, LRU and second chance keep
  /// nothing that is ever hit.) Otherwise the frame used longest ago.
  ///
  /// Takes the same time however many frames and animations there are.
  mutating func evict(limit: Int) -> CachedFrame? {
    guard let group = victimGroup(limit: limit) else { return nil }
    statistics.evictions += 1
    return remove(victimSlot(in: group))
  }

  private mutating func victimGroup(limit: Int) -> Int? {
    let oldest = groupOrder.oldest
    if oldest >= 0, admitted - groups[oldest].stamp > limit.multipliedClamping(by: Self.staleFactor)
    {
      return oldest
    }
    guard storing >= 0 else { return oldest >= 0 ? oldest : largestHeld() }
    let isHeld = groups[storing].holds > 0
    let released = releasedGroup(sparing: isHeld ? 0 : Self.sparedCount)
    if released >= 0, groups[storing].hasLooped || (isHeld && loopVotes >= 0) { return released }
    let own = evictableCost(of: storing)
    if isHeld {
      guard let largest = largestHeld() else { return released >= 0 ? released : nil }
      // In equal parts, a sample may miss the one that stores.
      if own > 0, 2 * own > evictableCost(of: largest) { return storing }
      return released >= 0 ? released : largest
    }
    if released >= 0, own < groups[released].cost { return released }
    if own > 0 { return storing }
    // Nobody plays it, so even its newest frames may go.
    return released >= 0 ? released : largestHeld() ?? storing
  }

  /// The animation let go last of those that nobody plays, but for the one that stores and some used
  /// after it; -1 when there is none.
  private func releasedGroup(sparing count: Int) -> Int {
    var group = groupOrder.newest
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

  /// Of some held animations, others each time, the one with most to give; nil when none has any.
  private mutating func largestHeld() -> Int? {
    var largest: Int?
    var largestCost = 0
    for _ in 0..<Self.sampleCount {
      let group = heldOrder.oldest
      guard group >= 0 else { break }
      let cost = evictableCost(of: group)
      if cost > largestCost { (largest, largestCost) = (group, cost) }
      guard heldOrder.newest != group else { break }
      unlink(group: group)
      linkNewest(group: group)
    }
    return largest
  }

  private func victimSlot(in group: Int) -> Int {
    let order = groups[group].order
    guard groups[group].holds > 0 || group == storing else { return order.newest }
    let pattern = groups[group].pattern
    let isPlayed = groups[group].holds > 0 ? pattern.isOrderly : pattern.isLoop
    guard isPlayed, groups[group].count > Self.floor else { return order.oldest }
    var slot = order.newest
    for _ in 0..<Self.floor { slot = slots[slot].links.older }
    return slot
  }

  /// Bytes of the frames that `group` may give, the two newest of whoever stores aside.
  private func evictableCost(of group: Int) -> Int {
    guard groups[group].holds > 0 || group == storing else { return groups[group].cost }
    return groups[group].cost - newestCost(of: group)
  }

  /// Bytes of the frames of `group` that are not to be evicted.
  func floorCost(of group: Int) -> Int { groups[group].holds > 0 ? newestCost(of: group) : 0 }

  private func newestCost(of group: Int) -> Int {
    var cost = 0
    var slot = groups[group].order.newest
    for _ in 0..<Self.floor where slot >= 0 {
      cost += slots[slot].frame?.cost ?? 0
      slot = slots[slot].links.older
    }
    return cost
  }

  /// Bytes of all floors.
  var heldCost: Int {
    groupOf.values.reduce(0) { $0 + floorCost(of: $1) }
  }
}

extension Int {
  /// The product, or the largest number there is.
  fileprivate func multipliedClamping(by factor: Int) -> Int {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }
}
