/// The bookkeeping of ``MemoryFrameCache``: frames by key, grouped by animation. Frames and animations are both kept in
/// order of use.
///
/// The table is a plain value, which the cache guards with a lock. `CacheEviction.swift` decides which frame to evict.
struct CacheTable: Sendable {
  /// One cached frame.
  struct Slot: Sendable, Linked {
    var key: FrameKey
    var frame: CachedFrame?
    var group: Int
    var links = Links()
  }

  /// The cached frames of one animation.
  struct Group: Sendable, Linked {
    var key: AnimationKey
    /// The animation's frames, least recently used first.
    var frames = UseList()
    var count = 0
    var cost = 0
    /// The value of ``CacheTable/admitted`` when the animation was last used.
    var stamp = 0
    var holds = 0
    var pattern = AccessPattern()
    /// The first frame looked up since the animation was held, or since another animation was looked up; -1 if none has
    /// been looked up.
    var firstAsked = -1
    var askedCount = 0
    /// Whether ``firstAsked`` has been looked up again.
    var hasLooped = false
    var links = Links()
  }

  /// How many of the newest frames of a held animation are never evicted.
  static let floor = 2

  var slots: [Slot] = []
  var freeSlots: [Int] = []
  var slotOf: [FrameKey: Int] = [:]
  var groups: [Group] = []
  var freeGroups: [Int] = []
  var groupOf: [AnimationKey: Int] = [:]
  /// The groups that are not held, least recently used first.
  var released = UseList()
  /// The held groups with more than ``floor`` frames. Eviction rotates this list, so it is not in order of use.
  var held = UseList()
  /// The held groups with at most ``floor`` frames.
  var atFloor = UseList()
  /// The group that last stored a new frame, or -1 if that group has been removed.
  var storing = -1
  /// The number of recent holds that repeated a frame, minus the number of recent holds that did not, clamped to ±8.
  var loopVotes = 0
  /// The total number of bytes ever stored, which serves as the table's clock.
  var admitted = 0
  var statistics = CacheStatistics()

  /// Returns the frame stored under `key`, or nil. Takes constant time and neither allocates nor copies.
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

  /// Records a lookup of frame `index` of `group`.
  private mutating func note(_ index: Int, in group: Int) {
    groups[group].pattern.step(to: index)
    // Without a hold, a play begins if the previous lookup was for a different animation.
    if groups[group].firstAsked < 0 || (groups[group].holds == 0 && released.newest != group) {
      groups[group].firstAsked = index
      groups[group].askedCount = 0
      groups[group].hasLooped = false
    } else if index == groups[group].firstAsked, groups[group].askedCount > Self.floor {
      groups[group].hasLooped = true
    }
    groups[group].askedCount += 1
  }

  /// Returns the last cached frame of `range`, or nil if no frame of `range` is cached. Uses whichever search takes
  /// fewer steps.
  func last(in range: Range<Int>, of animation: AnimationKey) -> (index: Int, bitmap: Bitmap)? {
    guard let group = groupOf[animation] else { return nil }
    var found: (index: Int, bitmap: Bitmap)?
    if groups[group].count < range.count {
      var slot = groups[group].frames.oldest
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

  /// Stores `frame` under `key` and returns the frame that it replaces, or nil.
  mutating func insert(_ frame: CachedFrame, for key: FrameKey) -> CachedFrame? {
    statistics.insertions += 1
    admitted += frame.byteCount
    if let slot = slotOf[key] {
      let group = slots[slot].group
      let old = slots[slot].frame
      let change = frame.byteCount - (old?.byteCount ?? 0)
      slots[slot].frame = frame
      groups[group].cost += change
      statistics.byteCount += change
      touch(slot, of: group)
      return old
    }
    let group = groupIndex(of: key.animation)
    storing = group
    let slot = newSlot(Slot(key: key, frame: frame, group: group))
    slotOf[key] = slot
    groups[group].frames.append(slot, in: &slots)
    touchGroup(group)
    changeCount(of: group, by: 1)
    groups[group].cost += frame.byteCount
    statistics.count += 1
    statistics.byteCount += frame.byteCount
    return nil
  }

  /// Removes and returns the frame in `slot`.
  mutating func remove(_ slot: Int) -> CachedFrame? {
    let group = slots[slot].group
    groups[group].frames.remove(slot, in: &slots)
    slotOf[slots[slot].key] = nil
    let frame = slots[slot].frame.take()
    freeSlots.append(slot)
    let cost = frame?.byteCount ?? 0
    changeCount(of: group, by: -1)
    groups[group].cost -= cost
    statistics.count -= 1
    statistics.byteCount -= cost
    releaseIfUnused(group)
    return frame
  }

  /// Removes and returns every frame of the animations that satisfy `condition`.
  mutating func remove(where condition: (AnimationKey) -> Bool) -> [CachedFrame] {
    var removed: [CachedFrame] = []
    for (key, group) in groupOf where condition(key) {
      while groups[group].count > 0, let frame = remove(groups[group].frames.oldest) {
        removed.append(frame)
      }
    }
    return removed
  }

  /// Returns whether `animation` is held.
  func isHeld(_ animation: AnimationKey) -> Bool {
    groupOf[animation].map { groups[$0].holds > 0 } ?? false
  }

  /// Adds a hold on `animation`.
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

  /// Removes a hold on `animation`.
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

// MARK: - Order of use

extension CacheTable {
  /// Marks the frame in `slot`, and its group, as most recently used.
  mutating func touch(_ slot: Int, of group: Int) {
    if groups[group].frames.newest != slot {
      groups[group].frames.remove(slot, in: &slots)
      groups[group].frames.append(slot, in: &slots)
    }
    touchGroup(group)
  }

  /// Marks `group` as the most recently used animation.
  mutating func touchGroup(_ group: Int) {
    groups[group].stamp = admitted
    guard groups[group].holds == 0, released.newest != group else { return }
    unlink(group: group)
    linkNewest(group: group)
  }

  /// Changes the number of frames of `group` by `change`, which may move the group to another list.
  mutating func changeCount(of group: Int, by change: Int) {
    let count = groups[group].count
    let moves = groups[group].holds > 0 && (count > Self.floor) != (count + change > Self.floor)
    if moves { unlink(group: group) }
    groups[group].count += change
    if moves { linkNewest(group: group) }
  }

  /// Appends `group` to the list that it belongs to.
  mutating func linkNewest(group: Int) {
    withList(of: group) { list, groups in list.append(group, in: &groups) }
  }

  /// Removes `group` from the list that it belongs to.
  mutating func unlink(group: Int) {
    withList(of: group) { list, groups in list.remove(group, in: &groups) }
  }

  private mutating func withList(of group: Int, _ body: (inout UseList, inout [Group]) -> Void) {
    if groups[group].holds == 0 {
      body(&released, &groups)
    } else if groups[group].count > Self.floor {
      body(&held, &groups)
    } else {
      body(&atFloor, &groups)
    }
  }
}

// MARK: - Invariants

extension CacheTable {
  /// Checks every invariant and describes each violation. For tests; takes linear time.
  func faults() -> [String] {
    var faults: [String] = []
    func expect(_ condition: Bool, _ text: @autoclosure () -> String) {
      if !condition { faults.append(text()) }
    }
    var seenGroups = 0
    var seenSlots = 0
    var cost = 0
    for (list, isHeld) in [(released, false), (held, true), (atFloor, true)] {
      var stamp = Int.min
      var previousGroup = -1
      var group = list.oldest
      while group >= 0, seenGroups <= groups.count {
        let value = groups[group]
        expect(groupOf[value.key] == group, "group \(group) is not found by its key")
        expect(value.links.older == previousGroup, "group \(group) has a wrong older link")
        expect(isHeld || value.stamp >= stamp, "group \(group) is out of order")
        expect((value.holds > 0) == isHeld, "group \(group) is in the wrong list")
        expect(value.count > 0 || isHeld, "group \(group) is empty and not held")
        let (count, sum) = walk(group, &faults)
        expect(count == value.count, "group \(group) holds \(count) frames, says \(value.count)")
        expect(sum == value.cost, "group \(group) costs \(sum), says \(value.cost)")
        (seenGroups, seenSlots, cost) = (seenGroups + 1, seenSlots + count, cost + sum)
        (stamp, previousGroup) = (value.stamp, group)
        group = value.links.newer
      }
      expect(list.newest == previousGroup, "the newest group is not the last one")
    }
    expect(seenGroups == groupOf.count, "\(seenGroups) groups linked, \(groupOf.count) known")
    expect(seenGroups + freeGroups.count == groups.count, "groups are lost")
    expect(seenSlots == slotOf.count, "\(seenSlots) frames linked, \(slotOf.count) known")
    expect(seenSlots + freeSlots.count == slots.count, "slots are lost")
    expect(seenSlots == statistics.count, "\(seenSlots) frames, says \(statistics.count)")
    expect(cost == statistics.byteCount, "costs \(cost), says \(statistics.byteCount)")
    return faults
  }

  private func walk(_ group: Int, _ faults: inout [String]) -> (count: Int, cost: Int) {
    var count = 0
    var cost = 0
    var previous = -1
    var slot = groups[group].frames.oldest
    while slot >= 0, count <= slots.count {
      let value = slots[slot]
      if value.group != group || slotOf[value.key] != slot || value.links.older != previous
        || value.frame == nil || value.key.animation != groups[group].key
      {
        faults.append("slot \(slot) of group \(group) is broken")
      }
      count += 1
      cost += value.frame?.byteCount ?? 0
      previous = slot
      slot = value.links.newer
    }
    if groups[group].frames.newest != previous { faults.append("group \(group) has a loose end") }
    return (count, cost)
  }
}
