extension CacheTable {
  /// Makes `slot` the frame, and its group the animation, that was used last.
  mutating func touch(_ slot: Int, of group: Int) {
    if groups[group].order.newest != slot {
      unlink(slot, of: group)
      linkNewest(slot, of: group)
    }
    touchGroup(group)
  }

  /// Makes `group` the animation that was used last.
  mutating func touchGroup(_ group: Int) {
    groups[group].stamp = admitted
    guard groupOrder.newest != group else { return }
    unlink(group: group)
    linkNewest(group: group)
  }

  mutating func linkNewest(_ slot: Int, of group: Int) {
    let last = groups[group].order.newest
    slots[slot].links = Links(older: last, newer: -1)
    if last >= 0 { slots[last].links.newer = slot } else { groups[group].order.oldest = slot }
    groups[group].order.newest = slot
  }

  mutating func unlink(_ slot: Int, of group: Int) {
    let links = slots[slot].links
    if links.older >= 0 {
      slots[links.older].links.newer = links.newer
    } else {
      groups[group].order.oldest = links.newer
    }
    if links.newer >= 0 {
      slots[links.newer].links.older = links.older
    } else {
      groups[group].order.newest = links.older
    }
  }

  mutating func linkNewest(group: Int) {
    let last = groupOrder.newest
    groups[group].links = Links(older: last, newer: -1)
    if last >= 0 { groups[last].links.newer = group } else { groupOrder.oldest = group }
    groupOrder.newest = group
  }

  mutating func unlink(group: Int) {
    let links = groups[group].links
    if links.older >= 0 {
      groups[links.older].links.newer = links.newer
    } else {
      groupOrder.oldest = links.newer
    }
    if links.newer >= 0 {
      groups[links.newer].links.older = links.older
    } else {
      groupOrder.newest = links.older
    }
  }
}
