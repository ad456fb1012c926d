/// Slots of a table that this process may not have mapped.
extension TableFile {
  /// Writes an empty entry.
  func empty(_ slot: Int, of layout: TableLayout) throws(AnimatedImageError) {
    let zeros = [UInt8](repeating: 0, count: TableEntry.byteCount)
    try write(zeros.rawBytes, at: layout.entry(of: slot))
  }

  /// Sets the time of last use.
  func mark(_ slot: Int, of layout: TableLayout, _ time: UInt64) throws(AnimatedImageError) {
    try write([time].rawBytes, at: layout.use(of: slot))
  }

  /// Frees the disk space of `slot`, which the caller has locked and emptied.
  ///
  /// - Returns: False if the file system cannot. The slot then is the first to be filled again.
  func free(_ slot: Int, of layout: TableLayout) throws(AnimatedImageError) -> Bool {
    guard punchHole(layout.pages(of: slot)) else { return false }
    try mark(slot, of: layout, 0)
    return true
  }

  /// Evicts the frame in `slot` unless somebody uses it or has used it since the time `use` was read.
  ///
  /// - Returns: The bytes freed.
  /// - Throws: `storeUnsupported` if the file system cannot free a part of a file; then the frame
  ///   stays.
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
    if try free(slot, of: layout) { return layout.stride }
    if !isEmpty { try write(entry.rawBytes, at: place) }
    throw AnimatedImageError(.storeUnsupported, "the file system cannot free parts of a file")
  }
}
