extension FrameTable {
  /// Stores `frame` under `key`.
  ///
  /// - Parameter mayGrow: Called with the number of bytes that filling a slot would take on disk. If it returns false,
  ///   only slots that already take disk space may be used.
  /// - Throws: `storeDenied` if the table is read-only; `storeBusy` if every slot that may hold the frame is in use;
  ///   `storeFull` if all of these slots are empty and `mayGrow` returns false; `storeDamaged` if the file was removed
  ///   or truncated; `parameter` if the frame has another size or format than the table, or if its damage does not fit
  ///   in an entry.
  func store(
    _ frame: CachedFrame, for key: TableKey, mayGrow: (Int) -> Bool = { _ in true }
  ) throws(AnimatedImageError) {
    let bitmap = frame.bitmap
    guard bitmap.size == key.size, bitmap.format == layout.shape.format,
      layout.shape.holds(bitmap.size),
      bitmap.bytesPerRow == bitmap.format.bytesPerRow(width: bitmap.width)
    else {
      throw AnimatedImageError(
        .parameter, "the size or format of the frame is not that of the table")
    }
    try checkFile()
    try checkWritable()
    let hash = secret.hash64(bitmap.bytes)
    for slot in layout.slots(of: key) where names(slot, key) {
      if let entry = entry(slot), entry.pixelHash == hash, entry.damage == frame.damage { return }
      try clear(slot)
    }
    guard let slot = try takeSlot(for: key, mayGrow: mayGrow) else {
      throw AnimatedImageError(
        .storeBusy, "all \(layout.wayCount) slots for frame \(key.index) are in use")
    }
    defer { endWriting(slot) }
    guard
      let entry = TableEntry(
        key, pixelHash: hash, damage: frame.damage, in: slot, of: layout, secret: secret)
    else {
      throw AnimatedImageError(
        .parameter, "the description of the frame's damage is too long to store")
    }
    // Empty the slot first: the page of its entry must exist before anything reads the entry.
    try file.empty(slot, of: layout)
    try file.mark(slot, of: layout, now)
    do throws(AnimatedImageError) {
      try file.write(bitmap.bytes, at: layout.pixels(of: slot).lowerBound)
      try entry.withBytes { (bytes) throws(AnimatedImageError) in
        try file.write(bytes, at: layout.entry(of: slot))
      }
    } catch {
      _ = try? file.free(slot, of: layout)
      throw error
    }
  }

  /// Throws `storeDenied` if the table is read-only.
  func checkWritable() throws(AnimatedImageError) {
    if file.isReadOnly {
      throw AnimatedImageError(.storeDenied, "a table of the store is read-only")
    }
  }
}
