internal import Synchronization
package import SystemPackage

/// The stored frames of one size and format: one file, mapped for reading.
///
/// Several processes use it at once. Each slot has a lock in the file: shared for reading its
/// pixels, exclusive for replacing them. Locks are never waited for. A slot is written in this
/// order: lock, empty entry, pixels, entry, unlock. A writer killed at any point leaves an empty
/// slot, or one whose checksum is wrong. This process checks a slot's pixels the first time it
/// reads them, and trusts them from then on.
///
/// Calls may read and write the disk.
package final class FrameTable: Sendable {
  let layout: TableLayout
  let secret: HashSecret
  let file: TableFile
  let mapping: TableMapping
  let state: Mutex<State>

  struct State {
    /// Leases of each slot held by this process; -1 while it writes there.
    var leases: [Int32]
    /// For each slot, the generation of the entry whose pixels were verified.
    var checked: [UInt64]
    /// Where the next search for a slot to replace starts.
    var hand = 0
    /// When this process last checked that the file's time is recent.
    var refreshed: ContinuousClock.Instant?
  }

  private init(
    _ layout: TableLayout, _ file: TableFile, _ secret: HashSecret
  ) throws(AnimatedImageError) {
    guard let mapping = TableMapping(file, byteCount: layout.fileBytes) else {
      throw AnimatedImageError(.storeUnsupported, "cannot map a table into memory")
    }
    // A lookup reads up to 16 entries far apart, then one frame: without advice, from a cold file, it
    // would wait for the former one by one, and for the read-ahead (8 MB on some disks) of the latter.
    mapping.willNeed(0..<layout.pixelsOffset)
    mapping.willScatter(layout.pixelsOffset..<layout.fileBytes)
    self.layout = layout
    self.secret = secret
    self.file = file
    self.mapping = mapping
    state = Mutex(
      State(
        leases: [Int32](repeating: 0, count: layout.slotCount),
        checked: [UInt64](repeating: 0, count: layout.slotCount)))
  }

  // MARK: Opening

  /// Opens the table at `path`, or creates it. Replaces one that is damaged.
  package static func open(
    _ path: FilePath, shape: TableShape, byteLimit: Int, secretBytes: [UInt8]
  ) throws(AnimatedImageError) -> FrameTable {
    try open(path, shape, byteLimit: byteLimit, HashSecret(secretBytes))
  }

  /// - Parameter creating: False throws `storeDamaged` if there is no table, or a damaged one.
  static func open(
    _ path: FilePath, _ shape: TableShape, byteLimit: Int, _ secret: HashSecret,
    creating: Bool = true
  ) throws(AnimatedImageError) -> FrameTable {
    let pageSize = TableFile.pageSize
    var replaces = false
    // Another process may create or remove the table between any two steps here.
    for _ in 0..<8 {
      if let file = try TableFile.open(path) {
        let header = try file.read(pageSize, at: 0)
        if let layout = TableLayout(
          header: header, of: shape, pageSize: pageSize, secret: secret),
          try file.status.byteCount == layout.fileBytes
        {
          try checkLocks(of: file, path)
          return try FrameTable(layout, file, secret)
        }
        replaces = true
      }
      guard creating else {
        throw AnimatedImageError(
          .storeDamaged, "\(path) \(replaces ? "has a damaged header" : "was removed")")
      }
      let number = UInt64.random(in: 1...UInt64.max)
      guard
        let layout = TableLayout(shape, byteLimit: byteLimit, pageSize: pageSize, number: number)
      else {
        throw AnimatedImageError(
          .storeFull, "a frame of \(shape.size) is larger than the store's limit")
      }
      let temporary = FilePath(path.string + ".\(String(number, radix: 16)).new")
      guard let file = try TableFile.open(temporary, creating: true) else { continue }
      do throws(AnimatedImageError) {
        // Allocate the entries on disk at once: reading a hole through the mapping may fail when
        // the disk is full.
        try file.resize(to: layout.fileBytes, allocating: layout.pixelsOffset)
        try file.write(layout.header(secret).rawBytes, at: 0)
        _ = try TableDirectory.publish(temporary, as: path, replacing: replaces)
      } catch {
        TableDirectory.remove(temporary)
        throw error
      }
    }
    throw AnimatedImageError(.storeDamaged, "\(path) is replaced all the time")
  }

  /// Rejects file systems whose locks have no effect.
  private static func checkLocks(of file: TableFile, _ path: FilePath) throws(AnimatedImageError) {
    guard try file.setLock(.exclusive, at: 0) else { return }
    defer { _ = try? file.setLock(.none, at: 0) }
    guard let other = try TableFile.open(path) else { return }
    if try other.setLock(.exclusive, at: 0), try other.status.linkCount > 0,
      try file.status.linkCount > 0
    {
      throw AnimatedImageError(.storeUnsupported, "locks have no effect on this file system")
    }
  }

  /// Checks that the file still has its name and its length.
  ///
  /// - Throws: `storeDamaged` if not: nothing may be read from it or stored in it any more.
  func checkFile() throws(AnimatedImageError) {
    let status = try file.status
    guard status.linkCount > 0 else {
      throw AnimatedImageError(.storeDamaged, "the table was removed")
    }
    guard status.byteCount >= layout.fileBytes, !mapping.hasGap else {
      throw AnimatedImageError(.storeDamaged, "the table was truncated")
    }
  }

  // MARK: Reading

  /// Returns the frame under `key`. Call ``checkFile()`` first.
  ///
  /// The pixels stay in the mapping, and the slot is not reused while they are in use.
  func frame(for key: TableKey) throws(AnimatedImageError) -> CachedFrame? {
    for slot in layout.slots(of: key) where names(slot, key) {
      guard let lease = try lease(slot) else { continue }
      guard let entry = entry(slot), entry.high == key.high, entry.low == key.low,
        entry.size == key.size, let range = layout.pixels(of: slot, size: entry.size)
      else { continue }
      guard isRight(entry, slot) else {
        // After a power failure, or if another program wrote to the file.
        try? clear(slot)
        continue
      }
      // If pages were cut off since, the mapping reads zeros in their place.
      guard !mapping.hasGap else { continue }
      if mapping.byte(at: layout.use(of: slot)) == 0 { try? mark(slot, 1) }
      noteUse()
      let storage = mapping.lend(range, by: lease)
      let format = layout.shape.format
      let bitmap = Bitmap(
        size: entry.size, format: format, bytesPerRow: format.bytesPerRow(width: entry.size.width),
        storage: storage)
      return CachedFrame(bitmap, damage: entry.damage)
    }
    return nil
  }

  /// Makes the file's time recent, by which tables are evicted. Writes at most once a minute.
  private func noteUse() {
    let now = ContinuousClock.now
    let isDue = state.withLock { state in
      if let last = state.refreshed, now - last < .seconds(60) { return false }
      state.refreshed = now
      return true
    }
    guard isDue, let modified = try? file.status.modified,
      FileStamp.now() - modified > 60_000_000_000
    else { return }
    file.refreshTimes()
  }

  /// Whether there is an entry for `key`. Does not read its pixels.
  func contains(_ key: TableKey) -> Bool {
    layout.slots(of: key).contains { slot in
      guard names(slot, key), let entry = entry(slot) else { return false }
      return entry.high == key.high && entry.low == key.low
    }
  }

  /// Whether the entry of `slot` holds `key`, without checking its checksum.
  private func names(_ slot: Int, _ key: TableKey) -> Bool {
    let offset = layout.entry(of: slot)
    return mapping.word(at: offset + 8) == key.high && mapping.word(at: offset + 16) == key.low
      && mapping.word(at: offset) != 0
  }

  func isEmpty(_ slot: Int) -> Bool { mapping.word(at: layout.entry(of: slot)) == 0 }

  func entry(_ slot: Int) -> TableEntry? {
    let offset = layout.entry(of: slot)
    return mapping.withBytes(in: offset..<offset + TableEntry.byteCount) {
      TableEntry(copying: $0, in: slot, of: layout, secret: secret)
    }
  }

  /// Whether the pixels in `slot` are those of `entry`. The caller holds a lease of the slot.
  func isRight(_ entry: TableEntry, _ slot: Int) -> Bool {
    guard let range = layout.pixels(of: slot, size: entry.size) else { return false }
    if state.withLock({ $0.checked[slot] == entry.generation }) {
      // Wait for pages that were evicted since here, not where the frame is drawn.
      mapping.touch(range)
      return true
    }
    mapping.willNeed(range)
    let hash = mapping.withBytes(in: range) { secret.hash64($0) }
    guard hash == entry.pixelHash, !mapping.hasGap else { return false }
    state.withLock { $0.checked[slot] = entry.generation }
    return true
  }

  // MARK: Leases

  /// Keeps every process from replacing the pixels of a slot while this object exists.
  final class Lease: Sendable {
    private let table: FrameTable
    private let slot: Int

    fileprivate init(_ table: FrameTable, _ slot: Int) {
      self.table = table
      self.slot = slot
    }

    deinit { table.endLease(of: slot) }
  }

  /// Leases `slot`; nil if it is being written.
  func lease(_ slot: Int) throws(AnimatedImageError) -> Lease? {
    let isLeased = try withState { (state) throws(AnimatedImageError) in
      guard state.leases[slot] >= 0, state.leases[slot] < .max else { return false }
      if state.leases[slot] == 0 {
        guard try file.setLock(.shared, at: layout.entry(of: slot)) else { return false }
      }
      state.leases[slot] += 1
      return true
    }
    return isLeased ? Lease(self, slot) : nil
  }

  private func endLease(of slot: Int) {
    let isLast = state.withLock { state in
      state.leases[slot] -= 1
      guard state.leases[slot] == 0 else { return false }
      _ = try? file.setLock(.none, at: layout.entry(of: slot))
      return true
    }
    // Removed while it was in use: its disk space could not be freed then.
    if isLast, isEmpty(slot) { try? free(slot) }
  }

  /// Locks `slot` for writing; false if it is in use.
  func beginWriting(_ slot: Int) throws(AnimatedImageError) -> Bool {
    try withState { (state) throws(AnimatedImageError) in
      guard state.leases[slot] == 0,
        try file.setLock(.exclusive, at: layout.entry(of: slot))
      else { return false }
      state.leases[slot] = -1
      return true
    }
  }

  func endWriting(_ slot: Int) {
    state.withLock { state in
      state.leases[slot] = 0
      state.checked[slot] = 0
      _ = try? file.setLock(.none, at: layout.entry(of: slot))
    }
  }

  private func withState<Result>(
    _ body: (inout State) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    try state.withLock { (state) throws(AnimatedImageError) in try body(&state) }
  }

  // MARK: Writing

  /// Stores `frame` under `key`.
  ///
  /// - Parameter mayGrow: Called before filling a slot that occupies no disk space yet. False
  ///   allows only slots that do.
  /// - Throws: `storeBusy` if every slot for the frame is in use, `storeFull` if `mayGrow` refuses
  ///   all of them, `storeDamaged`;
  ///   `parameter` if the frame has another shape, or its damage does not fit in an entry.
  func store(
    _ frame: CachedFrame, for key: TableKey, mayGrow: () -> Bool = { true }
  ) throws(AnimatedImageError) {
    let bitmap = frame.bitmap
    guard bitmap.size == key.size, bitmap.format == layout.shape.format,
      layout.shape.holds(bitmap.size),
      bitmap.bytesPerRow == bitmap.format.bytesPerRow(width: bitmap.width)
    else { throw AnimatedImageError(.parameter, "a frame of another size or format") }
    try checkFile()
    let hash = secret.hash64(bitmap.bytes)
    for slot in layout.slots(of: key) where names(slot, key) {
      if let entry = entry(slot), entry.pixelHash == hash, entry.damage == frame.damage { return }
      try clear(slot)
    }
    guard let slot = try takeSlot(for: key, mayGrow: mayGrow) else {
      throw AnimatedImageError(
        .storeBusy, "all \(layout.wayCount) places of frame \(key.index) are in use")
    }
    defer { endWriting(slot) }
    guard
      let entry = TableEntry(
        key, pixelHash: hash, damage: frame.damage, in: slot, of: layout, secret: secret)
    else { throw AnimatedImageError(.parameter, "the frame's damage takes too many words") }
    try empty(slot)
    do throws(AnimatedImageError) {
      try file.write(bitmap.bytes, at: layout.pixels(of: slot).lowerBound)
      try entry.withBytes { (bytes) throws(AnimatedImageError) in
        try file.write(bytes, at: layout.entry(of: slot))
      }
    } catch {
      file.punchHole(layout.pages(of: slot))
      throw error
    }
  }

  /// Locks a slot for `key` for writing: an empty one, else one not recently used. Nil if all are
  /// in use. Throws `storeFull` if all are empty and none may be filled.
  private func takeSlot(
    for key: TableKey, mayGrow: () -> Bool
  ) throws(AnimatedImageError) -> Int? {
    var asked: Bool?
    for slot in layout.slots(of: key) where isEmpty(slot) {
      if asked == nil { asked = mayGrow() }
      guard asked == true else { break }
      guard try beginWriting(slot) else { continue }
      if isEmpty(slot) { return slot }
      endWriting(slot)
    }
    let start = state.withLock { state in
      state.hand = (state.hand + 1) % layout.wayCount
      return state.hand
    }
    let slots = Array(layout.slots(of: key))
    // Second chance: the first round clears the marks of recent use, the second takes the slot.
    for round in 0..<2 * slots.count {
      let slot = slots[(start + round) % slots.count]
      if isEmpty(slot) { continue }
      if round < slots.count, mapping.byte(at: layout.use(of: slot)) != 0 {
        try mark(slot, 0)
      } else if try beginWriting(slot) {
        return slot
      }
    }
    // Space may have been freed since growing was refused.
    guard asked == false else { return nil }
    guard mayGrow() else {
      if slots.contains(where: { !isEmpty($0) }) { return nil }
      throw AnimatedImageError(
        .storeFull, "the store's limit leaves no room for frame \(key.index)")
    }
    for slot in slots where isEmpty(slot) {
      if try beginWriting(slot) { return slot }
    }
    return nil
  }

  func mark(_ slot: Int, _ used: UInt8) throws(AnimatedImageError) {
    try file.write([used].rawBytes, at: layout.use(of: slot))
  }

  /// Writes an empty entry.
  func empty(_ slot: Int) throws(AnimatedImageError) {
    let zeros = [UInt8](repeating: 0, count: TableEntry.byteCount)
    try file.write(zeros.rawBytes, at: layout.entry(of: slot))
  }
}
