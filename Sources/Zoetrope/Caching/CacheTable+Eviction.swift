extension CacheTable {
  /// Evicts one frame; nil when only floors are left. `limit` is the cost that is to be held.
  ///
  /// Two questions, each with the answer that suits it:
  /// - *Whose frame?* The animation used longest ago, if since then half of `limit` was stored
  ///   (nobody plays it any more). When all are in use, the one that holds the most, so that a long
  ///   animation run through once takes from itself and not from ten small ones.
  /// - *Which of its frames?* While it is played: the one shown last but for the two newest, since a
  ///   loop needs that one last. LRU and second chance were measured on loops that do not fit: no
  ///   hits at all, where this gives the share that fits. Otherwise the one used longest ago.
  mutating func evict(limit: Int) -> CachedFrame? {
    guard let group = victimGroup(limit: limit) else { return nil }
    statistics.evictions += 1
    return remove(victimSlot(in: group, limit: limit))
  }

  private func victimGroup(limit: Int) -> Int? {
    var largest: Int?
    var largestCost = 0
    var group = groupOrder.oldest
    while group >= 0 {
      if evictableCount(of: group) > 0 {
        // Groups come in order of use: if this one is not stale, no later one is.
        if isStale(group, limit: limit), largest == nil { return group }
        let cost = groups[group].cost - floorCost(of: group)
        if largest == nil || cost > largestCost { (largest, largestCost) = (group, cost) }
      }
      group = groups[group].links.newer
    }
    return largest
  }

  private func victimSlot(in group: Int, limit: Int) -> Int {
    let order = groups[group].order
    guard groups[group].pattern.isLoop, groups[group].count > Self.floor,
      !isStale(group, limit: limit)
    else { return order.oldest }
    var slot = order.newest
    for _ in 0..<Self.floor { slot = slots[slot].links.older }
    return slot
  }

  private func isStale(_ group: Int, limit: Int) -> Bool {
    admitted - groups[group].stamp > limit / 2
  }

  private func evictableCount(of group: Int) -> Int {
    groups[group].count - (groups[group].holds > 0 ? Self.floor : 0)
  }

  /// Bytes of the frames of `group` that are not to be evicted.
  func floorCost(of group: Int) -> Int {
    guard groups[group].holds > 0 else { return 0 }
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
