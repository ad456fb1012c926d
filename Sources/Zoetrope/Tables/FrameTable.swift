internal import Synchronization
package import SystemPackage

/// The frames of one size and format that outlive the process: one file, mapped for reading.
///
/// Several processes use it at once. Each slot has a lock in the file: shared for whoever reads its
/// pixels, exclusive for whoever replaces them, never waited for. A slot is written in this order:
/// lock, empty entry, pixels, entry, unlock; killed anywhere, a writer leaves an empty slot or one whose
/// checksum is wrong. Pixels are checked the first time this process sees them, then believed.
///
/// Calls may read and write the disk.
package final class FrameTable: Sendable {
  let layout: TableLayout
  private let secret: HashSecret
  private let file: TableFile
  private let mapping: TableMapping
  private let state: Mutex<State>

  private struct State {
    /// For each slot, how many leases this process has; -1 while it writes.
    var leases: [Int32]
    /// The entries whose pixels were found to be right.
    var checked: [UInt64]
    /// Where the next look for something to replace begins.
    var hand = 0
  }

  private init(
    _ layout: TableLayout, _ file: TableFile, _ secret: HashSecret
  ) throws(AnimatedImageError) {
    guard let mapping = TableMapping(file, byteCount: layout.fileBytes) else {
      throw AnimatedImageError(.storeUnsupported, "cannot map a table into memory")
    }
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

  /// Opens the table at `path`, or makes it; one that is not intact or not of this version is replaced.
  package static func open(
    _ path: FilePath, shape: TableShape, byteLimit: Int, secretBytes: [UInt8]
  ) throws(AnimatedImageError) -> FrameTable {
    try open(path, shape, byteLimit: byteLimit, HashSecret(secretBytes))
  }

  static func open(
    _ path: FilePath, _ shape: TableShape, byteLimit: Int, _ secret: HashSecret
  ) throws(AnimatedImageError) -> FrameTable {
    let pageSize = TableFile.pageSize
    var replaces = false
    // Another process may make it, or remove it, between any two steps here.
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
        // Entries lie on the disk from the start: a mapping of a hole may not be readable when the
        // disk is full.
        try file.resize(to: layout.fileBytes, allocating: layout.pixelsOffset)
        try unsafe file.write(layout.header(secret).span.bytes, at: 0)
        _ = try TableDirectory.publish(temporary, as: path, replacing: replaces)
      } catch {
        TableDirectory.remove(temporary)
        throw error
      }
    }
    throw AnimatedImageError(.storeDamaged, "\(path) is replaced all the time")
  }

  /// Refuses file systems whose locks do nothing.
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

  /// Whether its file still has its name and its length.
  ///
  /// - Throws: `storeDamaged` when not: nothing is to be read from it or kept in it any more.
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

  /// The frame under `key`, once ``checkFile()`` has found nothing; its pixels lie in the mapping, and are not replaced while they are in use.
  func frame(for key: TableKey) throws(AnimatedImageError) -> CachedFrame? {
    for slot in layout.slots(of: key) where names(slot, key) {
      guard let lease = try lease(slot) else { continue }
      guard let entry = entry(slot), entry.high == key.high, entry.low == key.low else { continue }
      guard isRight(entry, slot) else {
        // After a power failure, or written by something else.
        try? clear(slot)
        continue
      }
      // Zeros stand in for pages that were cut off since.
      guard !mapping.hasGap else { continue }
      if mapping.byte(at: layout.use(of: slot)) == 0 { try? mark(slot, 1) }
      let storage = mapping.lend(layout.pixels(of: slot), by: lease)
      let bitmap = Bitmap(
        size: layout.shape.size, format: layout.shape.format,
        bytesPerRow: layout.shape.bytesPerRow, storage: storage)
      return CachedFrame(bitmap, damage: entry.damage)
    }
    return nil
  }

  /// Whether the entry of `slot` says so at first sight.
  private func names(_ slot: Int, _ key: TableKey) -> Bool {
    let offset = layout.entry(of: slot)
    return mapping.word(at: offset + 8) == key.high && mapping.word(at: offset + 16) == key.low
      && mapping.word(at: offset) != 0
  }

  private func isEmpty(_ slot: Int) -> Bool { mapping.word(at: layout.entry(of: slot)) == 0 }

  private func entry(_ slot: Int) -> TableEntry? {
    let offset = layout.entry(of: slot)
    return mapping.withBytes(in: offset..<offset + TableEntry.byteCount) {
      TableEntry(copying: $0, in: slot, of: layout, secret: secret)
    }
  }

  /// Whether the pixels in `slot`, which is leased, are those of `entry`.
  private func isRight(_ entry: TableEntry, _ slot: Int) -> Bool {
    if state.withLock({ $0.checked[slot] == entry.generation }) { return true }
    let hash = mapping.withBytes(in: layout.pixels(of: slot)) { secret.hash64($0) }
    guard hash == entry.pixelHash, !mapping.hasGap else { return false }
    state.withLock { $0.checked[slot] = entry.generation }
    return true
  }

  // MARK: Leases

  /// Keeps the pixels of a slot from being replaced, by any process, while it lives.
  private final class Lease: Sendable {
    private let table: FrameTable
    private let slot: Int

    init(_ table: FrameTable, _ slot: Int) {
      self.table = table
      self.slot = slot
    }

    deinit { table.endLease(of: slot) }
  }

  /// A lease of `slot`; nil when somebody is writing there.
  private func lease(_ slot: Int) throws(AnimatedImageError) -> Lease? {
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
    state.withLock { state in
      state.leases[slot] -= 1
      if state.leases[slot] == 0 { _ = try? file.setLock(.none, at: layout.entry(of: slot)) }
    }
  }

  /// Locks `slot` for writing; false when somebody uses it.
  private func beginWriting(_ slot: Int) throws(AnimatedImageError) -> Bool {
    try withState { (state) throws(AnimatedImageError) in
      guard state.leases[slot] == 0,
        try file.setLock(.exclusive, at: layout.entry(of: slot))
      else { return false }
      state.leases[slot] = -1
      return true
    }
  }

  private func endWriting(_ slot: Int) {
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

  /// Keeps `frame` under `key`.
  ///
  /// - Parameter mayGrow: Asked before a slot is filled that takes no room on the disk yet; false
  ///   leaves only those that do.
  /// - Throws: `storeBusy` when every slot for it is in use, `storeFull`, `storeDamaged`, `parameter`
  ///   when the frame is of another shape, or its damage takes more words than an entry holds.
  func store(
    _ frame: CachedFrame, for key: TableKey, mayGrow: () -> Bool = { true }
  ) throws(AnimatedImageError) {
    let bitmap = frame.bitmap
    guard bitmap.size == layout.shape.size, bitmap.format == layout.shape.format,
      bitmap.bytesPerRow == layout.shape.bytesPerRow
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
      file.punchHole(layout.pixels(of: slot))
      throw error
    }
  }

  /// A slot for `key`, locked for writing: an empty one, else one that was not used lately. Nil when
  /// all are in use.
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
    // The second round takes what the first one gave a chance.
    for round in 0..<2 * slots.count {
      let slot = slots[(start + round) % slots.count]
      if isEmpty(slot) { continue }
      if round < slots.count, mapping.byte(at: layout.use(of: slot)) != 0 {
        try mark(slot, 0)
      } else if try beginWriting(slot) {
        return slot
      }
    }
    // Without leave to grow, room may have been made meanwhile.
    guard asked == false, mayGrow() else { return nil }
    for slot in slots where isEmpty(slot) {
      if try beginWriting(slot) { return slot }
    }
    return nil
  }

  private func mark(_ slot: Int, _ used: UInt8) throws(AnimatedImageError) {
    try unsafe file.write([used].span.bytes, at: layout.use(of: slot))
  }

  /// Writes an empty entry.
  private func empty(_ slot: Int) throws(AnimatedImageError) {
    let zeros = [UInt8](repeating: 0, count: TableEntry.byteCount)
    try unsafe file.write(zeros.span.bytes, at: layout.entry(of: slot))
  }

  // MARK: Removing

  /// Forgets what is in `slot`, and gives its room back if nobody uses it: leases live on.
  private func clear(_ slot: Int) throws(AnimatedImageError) {
    try empty(slot)
    guard try beginWriting(slot) else { return }
    defer { endWriting(slot) }
    // Empty still, or somebody has filled it anew.
    if isEmpty(slot) { file.punchHole(layout.pixels(of: slot)) }
  }

  /// Forgets every frame of the image with these bytes.
  func remove(_ content: ContentIdentity) throws(AnimatedImageError) {
    for slot in 0..<layout.slotCount {
      let offset = layout.entry(of: slot)
      if mapping.word(at: offset + 24) == content.high,
        mapping.word(at: offset + 32) == content.low, !isEmpty(slot)
      {
        try clear(slot)
      }
    }
  }

  /// Gives frames up, those not used lately first, until `byteCount` bytes of disk are free.
  ///
  /// - Returns: How many bytes that are.
  func reclaim(_ byteCount: Int) throws(AnimatedImageError) -> Int {
    var freed = 0
    for round in 0..<2 * layout.slotCount where freed < byteCount {
      let slot = state.withLock { state in
        state.hand = (state.hand + 1) % layout.slotCount
        return state.hand
      }
      guard !isEmpty(slot) else { continue }
      if round < layout.slotCount, mapping.byte(at: layout.use(of: slot)) != 0 {
        try mark(slot, 0)
      } else if try beginWriting(slot) {
        defer { endWriting(slot) }
        try empty(slot)
        file.punchHole(layout.pixels(of: slot))
        freed += layout.stride
      }
    }
    return freed
  }

  /// Gives the room of empty slots back: that of frames that were in use when they were removed.
  func shrink() throws(AnimatedImageError) {
    for slot in 0..<layout.slotCount where isEmpty(slot) {
      guard try beginWriting(slot) else { continue }
      if isEmpty(slot) { file.punchHole(layout.pixels(of: slot)) }
      endWriting(slot)
    }
  }

  /// Reads every frame and drops those that are not intact.
  ///
  /// - Returns: How many are, and how many were dropped.
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

  /// Slots that hold something, and bytes on the disk.
  func usage() throws(AnimatedImageError) -> (frames: Int, bytes: Int) {
    let frames = (0..<layout.slotCount).count { !isEmpty($0) }
    return (frames, try file.status.allocatedBytes)
  }
}
