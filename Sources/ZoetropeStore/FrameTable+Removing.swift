internal import Synchronization

extension FrameTable {
  /// Removes the frame in `slot`, and frees the slot's disk space unless the slot is still leased.
  func clear(_ slot: Int) throws(AnimatedImageError) {
    try checkWritable()
    try file.empty(slot, of: layout)
    try free(slot)
  }

  /// Frees the disk space of `slot` if it is empty and not in use.
  func free(_ slot: Int) throws(AnimatedImageError) {
    guard !file.isReadOnly, try beginWriting(slot) else { return }
    defer { endWriting(slot) }
    // Skip the slot if another writer has filled it meanwhile.
    if isEmpty(slot) { try file.free(slot, of: layout) }
  }

  /// Removes from this table every frame of the image with this content.
  func remove(_ content: ContentIdentity) throws(AnimatedImageError) {
    for slot in 0..<layout.slotCount where !isEmpty(slot) {
      let offset = layout.entry(of: slot)
      if mapping.word(at: offset + 24) == content.high,
        mapping.word(at: offset + 32) == content.low
      {
        try clear(slot)
      }
    }
  }

  /// Frees the disk space of empty slots, including those left by killed processes.
  func shrink() throws(AnimatedImageError) {
    for slot in 0..<layout.slotCount where use(slot) != 0 && isEmpty(slot) { try free(slot) }
  }

  /// Reads every frame and removes the frames that are not intact.
  ///
  /// - Returns: The number of intact frames and the number of removed frames.
  func verify() throws(AnimatedImageError) -> (intact: Int, dropped: Int) {
    var counts = (intact: 0, dropped: 0)
    try checkFile()
    for slot in 0..<layout.slotCount where !isEmpty(slot) {
      guard let lease = try lease(slot) else { continue }
      state.withLock { $0.checked[slot] = 0 }
      let isIntact = entry(slot).map { isRight($0, slot) } ?? false
      _ = consume lease
      if isIntact {
        counts.intact += 1
      } else if !isEmpty(slot) {
        try clear(slot)
        counts.dropped += 1
      }
    }
    return counts
  }

  /// Returns the number of frames stored and the number of bytes that the table takes on disk.
  func usage() throws(AnimatedImageError) -> (frames: Int, bytes: Int) {
    let frames = (0..<layout.slotCount).count { !isEmpty($0) }
    return (frames, try file.status.allocatedBytes)
  }
}
