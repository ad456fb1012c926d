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
    guard groups[group].holds == 0, groupOrder.newest != group else { return }
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

  /// Counts frames of `group`, which may make it belong to another order.
  mutating func changeCount(of group: Int, by change: Int) {
    let count = groups[group].count
    let moves =
      groups[group].holds > 0 && (count > Self.floor) != (count + change > Self.floor)
    if moves { unlink(group: group) }
    groups[group].count += change
    if moves { linkNewest(group: group) }
  }

  /// Puts `group` at the end of the order that it belongs to, by whether it is held.
  mutating func linkNewest(group: Int) {
    var order = order(of: group)
    groups[group].links = Links(older: order.newest, newer: -1)
    if order.newest >= 0 { groups[order.newest].links.newer = group } else { order.oldest = group }
    order.newest = group
    setOrder(of: group, to: order)
  }

  /// Takes `group` out of the order that it belongs to.
  mutating func unlink(group: Int) {
    var order = order(of: group)
    let links = groups[group].links
    if links.older >= 0 {
      groups[links.older].links.newer = links.newer
    } else {
      order.oldest = links.newer
    }
    if links.newer >= 0 {
      groups[links.newer].links.older = links.older
    } else {
      order.newest = links.older
    }
    setOrder(of: group, to: order)
  }

  private func order(of group: Int) -> Order {
    if groups[group].holds == 0 { return groupOrder }
    return groups[group].count > Self.floor ? heldOrder : floorOrder
  }

  private mutating func setOrder(of group: Int, to order: Order) {
    if groups[group].holds == 0 {
      groupOrder = order
    } else if groups[group].count > Self.floor {
      heldOrder = order
    } else {
      floorOrder = order
    }
  }
}
