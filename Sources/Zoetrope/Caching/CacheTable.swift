/// The bookkeeping of ``MemoryFrameCache``: frames by key, in groups by animation, both in order of
/// use. A plain value; the cache holds it under a lock.
///
/// Links are indices into arrays, so that a hit relinks without allocating or reference counting.
struct CacheTable: Sendable {
  /// One cached frame.
  struct Slot: Sendable {
    var key: FrameKey
    var frame: CachedFrame?
    var group: Int
    var links = Links()
  }

  /// The cached frames of one animation.
  struct Group: Sendable {
    var key: AnimationKey
    /// Its frames, the one used longest ago first.
    var order = Order()
    var count = 0
    var cost = 0
    /// ``CacheTable/admitted`` when it was used last.
    var stamp = 0
    var holds = 0
    var pattern = AccessPattern()
    /// The first frame that was asked for since it is held or asked for alone; -1 for none.
    var firstAsked = -1
    var askedCount = 0
    /// Whether that one was asked for again.
    var hasLooped = false
    var links = Links()
  }

  /// Neighbours in an order of use; -1 for none.
  struct Links: Sendable {
    var older = -1
    var newer = -1
  }

  /// The two ends of an order of use; -1 when it is empty.
  struct Order: Sendable {
    var oldest = -1
    var newest = -1
  }

  /// Frames of a held animation that are never evicted.
  static let floor = 2

  var slots: [Slot] = []
  var freeSlots: [Int] = []
  var slotOf: [FrameKey: Int] = [:]
  var groups: [Group] = []
  var freeGroups: [Int] = []
  var groupOf: [AnimationKey: Int] = [:]
  /// The groups that nobody holds, the one used longest ago first.
  var groupOrder = Order()
  /// The groups that somebody holds and that have more than their floor, in no order: those at the end
  /// were looked at last.
  var heldOrder = Order()
  /// The other groups that somebody holds.
  var floorOrder = Order()
  /// The group that a frame was stored in last; -1 when it is gone.
  var storing = -1
  /// How many of the last holds saw a frame twice, less those that did not, within ±8.
  var loopVotes = 0
  /// Bytes ever stored: the table's clock.
  var admitted = 0
  var statistics = CacheStatistics()

  /// The frame under `key`. Constant time; neither allocates nor copies.
  mutating func lookUp(_ key: FrameKey) -> CachedFrame? {
    guard let slot = slotOf[key] else {
      statistics.misses += 1
      if let group = groupOf[key.animation] { note(key.index, in: group) }
      return nil
    }
    statistics.hits += 1
    let group = slots[slot].group
    note(key.index, in: group)
    touch(slot, of: group)
    return slots[slot].frame
  }

  /// Takes note that frame `index` of `group` was asked for.
  private mutating func note(_ index: Int, in group: Int) {
    groups[group].pattern.step(to: index)
    // Where nobody says when playing begins, it begins when the one before is asked for no more.
    if groups[group].firstAsked < 0 || (groups[group].holds == 0 && groupOrder.newest != group) {
      groups[group].firstAsked = index
      groups[group].askedCount = 0
      groups[group].hasLooped = false
    } else if index == groups[group].firstAsked, groups[group].askedCount > Self.floor {
      groups[group].hasLooped = true
    }
    groups[group].askedCount += 1
  }

  /// The last frame of `range` that is there, whichever way of looking takes fewer steps.
  func last(in range: Range<Int>, of animation: AnimationKey) -> (index: Int, canvas: Bitmap)? {
    guard let group = groupOf[animation] else { return nil }
    var found: (index: Int, canvas: Bitmap)?
    if groups[group].count < range.count {
      var slot = groups[group].order.oldest
      while slot >= 0 {
        let index = slots[slot].key.index
        if range.contains(index), index > found?.index ?? -1, let bitmap = slots[slot].frame?.bitmap
        {
          found = (index, bitmap)
        }
        slot = slots[slot].links.newer
      }
    } else {
      for index in range.reversed() {
        guard let slot = slotOf[animation[index]], let bitmap = slots[slot].frame?.bitmap else {
          continue
        }
        return (index, bitmap)
      }
    }
    return found
  }

  /// Puts `frame` under `key`; gives back the one it replaces.
  mutating func insert(_ frame: CachedFrame, for key: FrameKey) -> CachedFrame? {
    statistics.insertions += 1
    admitted += frame.cost
    if let slot = slotOf[key] {
      let group = slots[slot].group
      let old = slots[slot].frame
      let change = frame.cost - (old?.cost ?? 0)
      slots[slot].frame = frame
      groups[group].cost += change
      statistics.cost += change
      touch(slot, of: group)
      return old
    }
    let group = groupIndex(of: key.animation)
    storing = group
    let slot = newSlot(Slot(key: key, frame: frame, group: group))
    slotOf[key] = slot
    linkNewest(slot, of: group)
    touchGroup(group)
    changeCount(of: group, by: 1)
    groups[group].cost += frame.cost
    statistics.count += 1
    statistics.cost += frame.cost
    return nil
  }

  /// Takes slot `slot` out and gives it back.
  mutating func remove(_ slot: Int) -> CachedFrame? {
    let group = slots[slot].group
    unlink(slot, of: group)
    slotOf[slots[slot].key] = nil
    let frame = slots[slot].frame.take()
    freeSlots.append(slot)
    let cost = frame?.cost ?? 0
    changeCount(of: group, by: -1)
    groups[group].cost -= cost
    statistics.count -= 1
    statistics.cost -= cost
    releaseIfUnused(group)
    return frame
  }

  /// Takes out every frame of the animations for which `condition` holds.
  mutating func remove(where condition: (AnimationKey) -> Bool) -> [CachedFrame] {
    var removed: [CachedFrame] = []
    for (key, group) in groupOf where condition(key) {
      while groups[group].count > 0, let frame = remove(groups[group].order.oldest) {
        removed.append(frame)
      }
    }
    return removed
  }

  /// Counts one more hold on `animation`.
  mutating func hold(_ animation: AnimationKey) {
    let group = groupIndex(of: animation)
    if groups[group].holds == 0 {
      unlink(group: group)
      groups[group].holds = 1
      groups[group].firstAsked = -1
      groups[group].askedCount = 0
      groups[group].hasLooped = false
      linkNewest(group: group)
    } else {
      groups[group].holds += 1
    }
  }

  /// Counts one hold less.
  mutating func release(_ animation: AnimationKey) {
    guard let group = groupOf[animation] else { return }
    if groups[group].holds == 1 {
      if groups[group].firstAsked >= 0 {
        loopVotes = min(max(loopVotes + (groups[group].hasLooped ? 1 : -1), -8), 8)
      }
      unlink(group: group)
      groups[group].holds = 0
      groups[group].stamp = admitted
      linkNewest(group: group)
    } else {
      groups[group].holds -= 1
    }
    releaseIfUnused(group)
  }

  private mutating func groupIndex(of key: AnimationKey) -> Int {
    if let group = groupOf[key] { return group }
    let group: Int
    if let free = freeGroups.popLast() {
      group = free
      groups[group] = Group(key: key)
    } else {
      group = groups.count
      groups.append(Group(key: key))
    }
    groupOf[key] = group
    groups[group].stamp = admitted
    linkNewest(group: group)
    return group
  }

  private mutating func releaseIfUnused(_ group: Int) {
    guard groups[group].count == 0, groups[group].holds <= 0 else { return }
    unlink(group: group)
    if storing == group { storing = -1 }
    groupOf[groups[group].key] = nil
    freeGroups.append(group)
  }

  private mutating func newSlot(_ slot: Slot) -> Int {
    if let free = freeSlots.popLast() {
      slots[free] = slot
      return free
    }
    slots.append(slot)
    return slots.count - 1
  }
}
