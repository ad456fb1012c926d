internal import Synchronization
internal import SystemPackage

/// A table that stores the frames of one size and format in one file, which is mapped for reading.
///
/// Several processes use the file concurrently. Each slot has a lock in the file, which is held shared while the slot's
/// pixels are read, and exclusively while they are replaced. No operation waits for a lock. To write a slot, a process
/// locks it, empties its entry, writes the time of last use, the pixels and the new entry, in this order, and unlocks
/// the slot. A writer that is killed at any point leaves a slot that is empty or whose checksum is wrong. A process
/// checks the pixels of a slot the first time it reads them, and trusts them from then on.
///
/// Calls may read and write the disk.
final class FrameTable: Sendable {
  let layout: TableLayout
  let secret: HashSecret
  let file: TableFile
  let mapping: TableMapping
  let state: Mutex<State>
  private let clock: @Sendable () -> Int64

  struct State {
    /// For each slot, the number of leases that this process holds, or -1 while this process writes to the slot.
    var leases: [Int32]
    /// For each slot, the ``TableEntry/generation`` of the entry whose pixels were verified last.
    var checked: [UInt64]
  }

  private init(
    _ layout: TableLayout, _ file: TableFile, _ secret: HashSecret,
    _ clock: @escaping @Sendable () -> Int64, _ closeOther: () -> Bool
  ) throws(AnimatedImageError) {
    var mapping = TableMapping(file, byteCount: layout.fileBytes)
    while mapping == nil, closeOther() {
      mapping = TableMapping(file, byteCount: layout.fileBytes)
    }
    guard let mapping else {
      throw AnimatedImageError(.storeUnsupported, "cannot map a table into memory")
    }
    // A lookup reads up to 16 entries that lie far apart, and then one frame. Without this advice to the system, a
    // lookup in a file that is not cached would wait for each entry in turn, and for read-ahead beyond the frame (8 MB
    // on some disks).
    mapping.willNeed(0..<layout.pixelsOffset)
    mapping.willScatter(layout.pixelsOffset..<layout.fileBytes)
    self.layout = layout
    self.secret = secret
    self.file = file
    self.mapping = mapping
    self.clock = clock
    state = Mutex(
      State(
        leases: [Int32](repeating: 0, count: layout.slotCount),
        checked: [UInt64](repeating: 0, count: layout.slotCount)))
  }

  /// Lets other processes remove the table. Closing the descriptor would not release the lock while a child process
  /// between `fork` and `exec` still has a copy of the descriptor.
  deinit { _ = try? file.setLock(.none, at: TableLayout.presence) }

  // MARK: Opening

  /// Opens the table at `path`. Creates the table if it is missing, and replaces it if it is damaged.
  ///
  /// - Parameters:
  ///   - creating: Whether to create or replace the table. If false, the method throws `storeDamaged` if the table is
  ///     missing or damaged.
  ///   - readOnly: Whether to open the table for reading only even if this user may write to it. Default: false.
  ///   - clock: Returns the time in nanoseconds since 1970.
  ///   - mayGrow: Called before a missing table is created, with the number of bytes that the empty table takes on
  ///     disk. If it returns false, `storeFull` is thrown.
  ///   - closeOther: Called if the table cannot be mapped. Closes another mapping, because the process may have run out
  ///     of address space (RLIMIT_AS) or of mappings. Returns false if there is no other mapping to close.
  static func open(
    _ path: FilePath, _ shape: TableShape, byteLimit: Int, _ secret: HashSecret,
    creating: Bool = true, readOnly: Bool = false,
    clock: @escaping @Sendable () -> Int64 = { FileStamp.now() },
    mayGrow: (Int) -> Bool = { _ in true }, closeOther: () -> Bool = { false }
  ) throws(AnimatedImageError) -> FrameTable {
    // Another process may create or remove the table between any two steps here.
    for _ in 0..<8 {
      var isDamaged = false
      if let file = try TableFile.open(path, readOnly: readOnly) {
        if let layout = try TableLayout(of: file, shape, secret: secret) {
          // If the file cannot be locked or has lost its name, another process is removing the table.
          if try file.setLock(.shared, at: TableLayout.presence), try file.status.isLinked {
            if !file.isReadOnly { try checkLocks(of: file, path) }
            return try FrameTable(layout, file, secret, clock, closeOther)
          }
        } else {
          isDamaged = true
        }
      }
      guard creating else {
        throw AnimatedImageError(
          .storeDamaged, "\(path.quoted) \(isDamaged ? "has a damaged header" : "was removed")")
      }
      let number = UInt64.random(in: 1...UInt64.max)
      guard
        let layout = TableLayout(
          shape, byteLimit: byteLimit, pageSize: TableFile.pageSize, number: number),
        isDamaged || mayGrow(layout.entriesOffset)
      else {
        throw AnimatedImageError(
          .storeFull, "the store's limit leaves no room for frames of \(shape.size)")
      }
      try TableDirectory.create(path, replacing: isDamaged) {
        (file) throws(AnimatedImageError) in
        try file.resize(to: layout.fileBytes, allocating: layout.entriesOffset)
        try file.write(layout.header(secret).rawBytes, at: 0)
      }
    }
    throw AnimatedImageError(.storeDamaged, "other processes keep replacing \(path.quoted)")
  }

  /// Throws `storeUnsupported` if locks have no effect on the file system.
  private static func checkLocks(of file: TableFile, _ path: FilePath) throws(AnimatedImageError) {
    guard try file.setLock(.exclusive, at: 0) else { return }
    defer { _ = try? file.setLock(.none, at: 0) }
    guard let other = try TableFile.open(path) else { return }
    if try other.setLock(.exclusive, at: 0), try other.status.isLinked,
      try file.status.isLinked
    {
      throw AnimatedImageError(.storeUnsupported, "locks have no effect on this file system")
    }
  }

  /// Checks that the file still has its name and its full length, and that no read of the mapping has failed.
  ///
  /// - Throws: `storeDamaged` if a check fails. In that case, nothing may be read from the file or stored in it any
  ///   more.
  func checkFile() throws(AnimatedImageError) {
    let status = try file.status
    guard status.isLinked else {
      throw AnimatedImageError(.storeDamaged, "the table was removed")
    }
    guard status.byteCount >= layout.fileBytes, !mapping.hasGap else {
      throw AnimatedImageError(.storeDamaged, "the table was truncated")
    }
  }

  // MARK: Reading

  /// Returns the frame under `key`, or nil if there is no intact one. Call ``checkFile()`` first.
  ///
  /// The pixels of the frame stay in the mapping, and the slot is not reused as long as they are in use.
  func frame(for key: TableKey) throws(AnimatedImageError) -> CachedFrame? {
    for slot in layout.slots(of: key) where names(slot, key) {
      guard let lease = try lease(slot) else { continue }
      guard let entry = entry(slot), entry.high == key.high, entry.low == key.low,
        entry.size == key.size, let range = layout.pixels(of: slot, size: entry.size)
      else { continue }
      guard isRight(entry, slot) else {
        // The pixels may be wrong after a power failure, or if another program wrote to the file.
        try? clear(slot)
        continue
      }
      // If the file was truncated meanwhile, the missing pages read as zeros in the mapping.
      guard !mapping.hasGap else { continue }
      touch(slot)
      let storage = mapping.lend(range, by: lease)
      let format = layout.shape.format
      let bitmap = Bitmap(
        size: entry.size, format: format, bytesPerRow: format.bytesPerRow(width: entry.size.width),
        storage: storage)
      return CachedFrame(bitmap, damage: entry.damage)
    }
    return nil
  }

  /// Sets the time of last use of `slot`, for which the caller holds a lease. Writes at most once per second.
  private func touch(_ slot: Int) {
    let (now, last) = (now, use(slot))
    // A time in the future comes from a clock that was wrong.
    guard !file.isReadOnly, last > now || now - last >= 1_000_000_000 else { return }
    try? file.mark(slot, of: layout, now)
  }

  /// The time in nanoseconds since 1970, never 0.
  var now: UInt64 { UInt64(max(clock(), 1)) }

  /// Returns whether there is an entry for `key`, without reading the pixels.
  func contains(_ key: TableKey) -> Bool {
    layout.slots(of: key).contains { slot in
      guard names(slot, key), let entry = entry(slot) else { return false }
      return entry.high == key.high && entry.low == key.low
    }
  }

  /// Returns whether the entry of `slot` holds `key`, without verifying the entry's checksum.
  func names(_ slot: Int, _ key: TableKey) -> Bool {
    guard !isEmpty(slot) else { return false }
    let offset = layout.entry(of: slot)
    return mapping.word(at: offset + 8) == key.high && mapping.word(at: offset + 16) == key.low
  }

  /// Returns the time of last use of `slot`, or 0 if the slot takes no disk space.
  func use(_ slot: Int) -> UInt64 { mapping.word(at: layout.use(of: slot)) }

  func isEmpty(_ slot: Int) -> Bool {
    use(slot) == 0 || mapping.word(at: layout.entry(of: slot)) == 0
  }

  func entry(_ slot: Int) -> TableEntry? {
    let offset = layout.entry(of: slot)
    return mapping.withBytes(in: offset..<offset + TableEntry.byteCount) {
      TableEntry(copying: $0, in: slot, of: layout, secret: secret)
    }
  }

  /// Returns whether `slot` contains the pixels that `entry` describes. The caller must hold a lease of the slot.
  func isRight(_ entry: TableEntry, _ slot: Int) -> Bool {
    guard let range = layout.pixels(of: slot, size: entry.size) else { return false }
    if state.withLock({ $0.checked[slot] == entry.generation }) {
      // If pages of the pixels are no longer in memory, wait for them here rather than where the frame is drawn.
      mapping.touch(range)
      return true
    }
    mapping.willNeed(range)
    let hash = mapping.withBytes(in: range) { secret.hash64($0) }
    guard hash == entry.pixelHash, !mapping.hasGap else { return false }
    state.withLock { $0.checked[slot] = entry.generation }
    return true
  }
}
