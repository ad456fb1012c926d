extension FrameTable {
  /// Locks a slot for writing the frame of `key`, and returns the slot. Takes an empty slot if possible, and otherwise
  /// the least recently used one. Returns nil if all slots that may hold the frame are in use. Throws `storeFull` if
  /// all of them are empty and none may be filled.
  func takeSlot(
    for key: TableKey, mayGrow: (Int) -> Bool
  ) throws(AnimatedImageError) -> Int? {
    let slots = Array(layout.slots(of: key))
    // Prefer empty slots that still take disk space.
    let empty = slots.filter { isEmpty($0) }.sorted { use($0) > use($1) }
    var asked: Bool?
    for slot in empty {
      if use(slot) == 0 {
        if asked == nil { asked = mayGrow(cost(of: slot)) }
        guard asked == true else { break }
      }
      guard try beginWriting(slot) else { continue }
      if isEmpty(slot) { return slot }
      endWriting(slot)
    }
    let full = slots.filter { !isEmpty($0) }.map { (slot: $0, use: use($0)) }
    for (slot, _) in full.sorted(by: { $0.use < $1.use }) {
      if try beginWriting(slot) { return slot }
    }
    if asked == false, full.isEmpty {
      throw AnimatedImageError(
        .storeFull, "the store's limit leaves no room for frame \(key.index)")
    }
    return nil
  }

  /// Returns the number of bytes that filling `slot` takes on disk: its pixels, and the page of its entry unless that
  /// page already contains another entry.
  private func cost(of slot: Int) -> Int {
    let isFirst = layout.neighbours(of: slot).allSatisfy { use($0) == 0 }
    return layout.stride + (isFirst ? layout.pageSize : 0)
  }
}
