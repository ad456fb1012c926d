/// Operations on slots of a table that this process need not have mapped.
extension TableFile {
  /// Overwrites the entry of `slot` with zeros, which makes the slot empty.
  func empty(_ slot: Int, of layout: TableLayout) throws(AnimatedImageError) {
    let zeros = [UInt8](repeating: 0, count: TableEntry.byteCount)
    try write(zeros.rawBytes, at: layout.entry(of: slot))
  }

  /// Sets the time of last use of `slot` to `time`.
  func mark(_ slot: Int, of layout: TableLayout, _ time: UInt64) throws(AnimatedImageError) {
    try write([time].rawBytes, at: layout.use(of: slot))
  }

  /// Frees the disk space of `slot`, which the caller has locked and emptied.
  ///
  /// If the file system cannot free the space, the slot keeps its time of last use, so that it is filled again before
  /// slots that take no disk space.
  @discardableResult
  func free(_ slot: Int, of layout: TableLayout) throws(AnimatedImageError) -> Hole {
    let hole = try punchHole(layout.pages(of: slot))
    if hole == .freed { try mark(slot, of: layout, 0) }
    return hole
  }

  /// Evicts the frame in `slot`, unless the slot is in use or its time of last use is no longer `use`.
  ///
  /// - Returns: The number of bytes freed.
  /// - Throws: `storeUnsupported` if the file system cannot free a part of a file. The frame is then kept. However, the
  ///   first attempt in a file may lose its frame, because only that attempt discovers that the space cannot be freed.
  func evict(
    _ slot: Int, of layout: TableLayout, unusedSince use: UInt64
  ) throws(AnimatedImageError) -> Int {
    let place = layout.entry(of: slot)
    guard try setLock(.exclusive, at: place) else { return 0 }
    defer { _ = try? setLock(.none, at: place) }
    let words = try read(8, at: layout.use(of: slot))
    guard words.count == 8, words.rawBytes.load(UInt64.self, at: 0) == use else { return 0 }
    let entry = try read(TableEntry.byteCount, at: place)
    let isEmpty = entry.allSatisfy { $0 == 0 }
    if !isEmpty { try empty(slot, of: layout) }
    let hole = try free(slot, of: layout)
    if hole == .freed {
      return layout.allocatedBytes(of: slot, entry: entry.rawBytes)
    }
    if !isEmpty, hole == .none { try write(entry.rawBytes, at: place) }
    throw AnimatedImageError(.storeUnsupported, "the file system cannot free parts of a file")
  }
}
