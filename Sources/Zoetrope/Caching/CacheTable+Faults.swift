extension CacheTable {
  /// Whether somebody holds `animation`.
  func isHeld(_ animation: AnimationKey) -> Bool {
    groupOf[animation].map { groups[$0].holds > 0 } ?? false
  }

  /// Checks every invariant; one clause for each that does not hold. For tests: takes linear time.
  func faults() -> [String] {
    var faults: [String] = []
    func expect(_ condition: Bool, _ text: @autoclosure () -> String) {
      if !condition { faults.append(text()) }
    }
    var seenGroups = 0
    var seenSlots = 0
    var cost = 0
    for (order, isHeld) in [(groupOrder, false), (heldOrder, true), (floorOrder, true)] {
      var stamp = Int.min
      var previousGroup = -1
      var group = order.oldest
      while group >= 0, seenGroups <= groups.count {
        let value = groups[group]
        expect(groupOf[value.key] == group, "group \(group) is not found by its key")
        expect(value.links.older == previousGroup, "group \(group) has a wrong older link")
        expect(isHeld || value.stamp >= stamp, "group \(group) is out of order")
        expect((value.holds > 0) == isHeld, "group \(group) is in the wrong order")
        expect(value.count > 0 || isHeld, "group \(group) is empty and not held")
        let (count, sum) = walk(group, &faults)
        expect(count == value.count, "group \(group) holds \(count) frames, says \(value.count)")
        expect(sum == value.cost, "group \(group) costs \(sum), says \(value.cost)")
        (seenGroups, seenSlots, cost) = (seenGroups + 1, seenSlots + count, cost + sum)
        (stamp, previousGroup) = (value.stamp, group)
        group = value.links.newer
      }
      expect(order.newest == previousGroup, "the newest group is not the last one")
    }
    expect(seenGroups == groupOf.count, "\(seenGroups) groups linked, \(groupOf.count) known")
    expect(seenGroups + freeGroups.count == groups.count, "groups are lost")
    expect(seenSlots == slotOf.count, "\(seenSlots) frames linked, \(slotOf.count) known")
    expect(seenSlots + freeSlots.count == slots.count, "slots are lost")
    expect(seenSlots == statistics.count, "\(seenSlots) frames, says \(statistics.count)")
    expect(cost == statistics.cost, "costs \(cost), says \(statistics.cost)")
    return faults
  }

  private func walk(_ group: Int, _ faults: inout [String]) -> (count: Int, cost: Int) {
    var count = 0
    var cost = 0
    var previous = -1
    var slot = groups[group].order.oldest
    while slot >= 0, count <= slots.count {
      let value = slots[slot]
      if value.group != group || slotOf[value.key] != slot || value.links.older != previous
        || value.frame == nil || value.key.animation != groups[group].key
      {
        faults.append("slot \(slot) of group \(group) is broken")
      }
      count += 1
      cost += value.frame?.cost ?? 0
      previous = slot
      slot = value.links.newer
    }
    if groups[group].order.newest != previous { faults.append("group \(group) has a loose end") }
    return (count, cost)
  }
}
