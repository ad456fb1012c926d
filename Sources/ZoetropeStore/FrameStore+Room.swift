internal import Synchronization

/// The disk space that this process may fill before it checks the directory again.
struct Room: Sendable {
  var byteCount = 0
  /// The time at which `byteCount` was determined, by the store's clock, in nanoseconds since 1970.
  var since: Int64 = 0
  /// The number of nanoseconds after which `byteCount` and `isLast` expire.
  var lifetime: Int64 = 1_000_000_000
  /// Whether no more space can be freed for now, because eviction freed too little or the directory could not be read.
  var isLast = false
  /// The error that kept the directory from being read, or nil if it was read.
  var failure: AnimatedImageError?

  func counts(at now: Int64) -> Bool { since <= now && now - since < lifetime }
}

extension FrameStore {
  /// Makes room for `byteCount` more bytes, evicting frames if necessary. Returns whether that many bytes may be
  /// stored.
  ///
  /// The directory is not read in every call. Instead, this process reserves a 64th of the byte limit at a time, and
  /// evicts frames if necessary. Each process can exceed the limit by at most that much, because it does not know what
  /// other processes have reserved. File systems may later add a few blocks of their own to each table, and these
  /// blocks count from then on.
  ///
  /// A refusal lasts for a tenth of a second: as long as all frames are in use, checking every table again for each
  /// frame would give the same result. If the file system cannot free slots, a refusal lasts for a second, because then
  /// only whole tables can be removed.
  func makeRoom(_ byteCount: Int) -> Bool {
    room.withLock { room in
      let now = clock()
      if room.counts(at: now) {
        if byteCount <= room.byteCount {
          room.byteCount -= byteCount
          return true
        }
        if room.isLast { return false }
      }
      var eviction: Eviction
      do throws(AnimatedImageError) { eviction = try Eviction(of: self) } catch {
        // If the usage is unknown, nothing may be stored.
        room = Room(since: now, lifetime: 100_000_000, isLast: true, failure: error)
        return false
      }
      let share = max(byteCount, byteLimit / 64)
      var free = byteLimit - eviction.byteCount
      var isLast = false
      if free < byteCount {
        free += eviction.evict(share - free, unusedFor: 60_000_000_000)
        isLast = free < share
      }
      let isEnough = free >= byteCount
      // Room that is too small for this frame may suffice for a smaller one.
      room = Room(
        byteCount: max(min(free, share) - (isEnough ? byteCount : 0), 0), since: now,
        lifetime: isLast && eviction.canFreeSlots ? 100_000_000 : 1_000_000_000, isLast: isLast)
      return isEnough
    }
  }

  /// Evicts the least recently used frames of all tables until the store takes at most `byteCount` bytes on disk. Also
  /// removes tables that are empty, damaged or of another version, and files that killed processes left behind. Files
  /// that a process has open are not removed.
  ///
  /// - Throws: `storeDenied` if the store is read-only, or the error that prevented eviction.
  public func prune(to byteCount: Int) throws(AnimatedImageError) {
    try checkWritable()
    if byteCount <= 0 { index.prune(to: 0) }
    forEachTable { (table) throws(AnimatedImageError) in try table.shrink() }
    let failure = try room.withLock { (room) throws(AnimatedImageError) in
      room = Room()
      var eviction = try Eviction(of: self)
      let surplus = eviction.byteCount - max(byteCount, 0)
      let isEnough = surplus <= 0 || eviction.evict(surplus, unusedFor: 0) >= surplus
      return isEnough ? nil : eviction.failure
    }
    var rest = try Eviction(of: self)
    rest.removeFiles()
    if let failure, try Eviction(of: self).byteCount > max(byteCount, 0) { throw failure }
  }

  /// Removes the file of a table unless a process has the table open.
  ///
  /// - Returns: Whether the file was removed.
  @discardableResult
  func removeIfUnused(_ name: String) -> Bool {
    let path = location.appending(name)
    do throws(AnimatedImageError) {
      guard let file = try TableFile.open(path), !file.isReadOnly,
        try file.setLock(.exclusive, at: TableLayout.presence),
        // If this file is no longer linked, the name now belongs to another file.
        try file.status.isLinked
      else { return false }
    } catch {
      // A file to which other users have access is not open in any store.
      guard error.code == .storeDenied else { return false }
    }
    FileSystem.remove(path)
    return true
  }
}

/// A pass that finds and evicts the least recently used frames among all tables of a store.
///
/// Files are opened one at a time and never mapped. The lock of a slot protects it from eviction while this process or
/// another one uses it.
struct Eviction {
  /// A slot that takes disk space, or a file that may be removed as a whole.
  private struct Victim {
    let file: Int
    /// The slot to evict, or nil for the whole file.
    let slot: Int?
    let byteCount: Int
    /// The time of last use, in nanoseconds since 1970: `use` as stored, and `time` with corrections for comparisons.
    let use: UInt64
    let time: UInt64
  }

  private let store: FrameStore
  private let secret: StoreSecret
  private let files: [(name: String, status: FileStatus)]
  private let now: UInt64
  /// The last error that kept frames of a table from being evicted.
  private(set) var failure: AnimatedImageError?
  /// Whether the file system can free the space of a slot. False once an attempt has failed.
  private(set) var canFreeSlots = true
  private var freed = 0

  init(of store: FrameStore) throws(AnimatedImageError) {
    self.store = store
    secret = store.state.withLock { $0.secret }
    files = try TableDirectory.list(store.location).filter { StoreFiles.isTable($0.name) }
    now = UInt64(max(store.clock(), 1))
  }

  /// The number of bytes that all files take on disk.
  var byteCount: Int { files.reduce(0) { $0 + $1.status.allocatedBytes } }

  /// Evicts frames until `wanted` bytes have been freed, or no more can be freed.
  ///
  /// If the file system cannot free slots, whole tables are removed instead, but only tables that no other process has
  /// open and whose frames are not in use and have not been used within the last `idle` nanoseconds.
  ///
  /// - Returns: The number of bytes freed.
  mutating func evict(_ wanted: Int, unusedFor idle: UInt64) -> Int {
    // A frame larger than all that may remain cannot stay, so it goes before older frames that can.
    let rest = byteCount - wanted
    let victims = victims().sorted {
      ($0.byteCount > rest ? 0 : $0.time) < ($1.byteCount > rest ? 0 : $1.time)
    }
    var (next, factor) = (0, 1)
    while freed < wanted, next < victims.count, canFreeSlots {
      // Try as many victims as would suffice. If some of them are in use, try more in the next round.
      var (end, sum) = (next, 0)
      while end < victims.count, sum < (wanted - freed) * factor {
        sum += victims[end].byteCount
        end += 1
      }
      // Evict in order, so that the newest of them stay if they turn out to be unnecessary. Each run of slots of one
      // file needs the file opened once.
      var run = next
      while run < end, freed < wanted {
        let file = victims[run].file
        let stop = victims[run..<end].firstIndex { $0.file != file } ?? end
        evict(victims[run..<stop], from: file, until: wanted)
        run = stop
      }
      (next, factor) = (end, min(2 * factor, 1 << 16))
    }
    if canFreeSlots { return freed }
    let latest = Dictionary(victims.map { ($0.file, $0.time) }, uniquingKeysWith: max)
    for (file, time) in latest.sorted(by: { $0.value < $1.value })
    where freed < wanted && now - time >= idle {
      remove(file)
    }
    return freed
  }

  /// Removes files that contain no frames that this version can use.
  mutating func removeFiles() {
    for victim in victims() where victim.slot == nil { remove(victim.file) }
  }

  private mutating func victims() -> [Victim] {
    var found: [Victim] = []
    for (place, file) in files.enumerated() {
      let byteCount = file.status.allocatedBytes
      do throws(AnimatedImageError) {
        guard let (table, layout) = try open(place) else {
          // The file has another version or is incomplete. Skip it if it is recent, because a writer may still be at
          // work.
          let time = UInt64(max(file.status.modified, 0))
          guard time + 60_000_000_000 < now else { continue }
          found.append(Victim(file: place, slot: nil, byteCount: byteCount, use: 0, time: time))
          continue
        }
        let bytes = try table.read(layout.usesBytes, at: layout.usesOffset)
        let uses = (0..<bytes.count / 8).map { bytes.rawBytes.load(UInt64.self, at: $0 * 8) }
        let occupied = uses.count { $0 != 0 }
        if occupied == 0 {
          found.append(Victim(file: place, slot: nil, byteCount: byteCount, use: 0, time: 0))
        }
        // In a table that was copied, unused slots may occupy disk space, because copying a file can fill its holes.
        if byteCount - layout.pixelsOffset - occupied * layout.stride > byteCount / 4 {
          do throws(AnimatedImageError) {
            for slot in uses.indices where uses[slot] == 0 {
              _ = try table.evict(slot, of: layout, unusedSince: 0)
            }
          } catch {
            note(error)
          }
          freed += try max(byteCount - table.status.allocatedBytes, 0)
        }
        for (slot, use) in uses.enumerated() where use != 0 {
          // A time more than an hour in the future comes from a clock that was wrong.
          let time = use > now + 3_600_000_000_000 ? 0 : min(use, now)
          var byteCount = layout.stride
          // Only tables with a name have frames of several sizes.
          if layout.shape.name != nil {
            let entry = try table.read(TableEntry.byteCount, at: layout.entry(of: slot))
            byteCount = layout.allocatedBytes(of: slot, entry: entry.rawBytes)
          }
          found.append(
            Victim(file: place, slot: slot, byteCount: byteCount, use: use, time: time))
        }
      } catch {
        note(error)
      }
    }
    return found
  }

  /// Opens the file at index `place` as a table for writing, or returns nil if it is not a table of this version and
  /// secret.
  private func open(
    _ place: Int
  ) throws(AnimatedImageError) -> (file: TableFile, layout: TableLayout)? {
    guard let shape = secret.shape(ofTable: files[place].name),
      let file = try TableFile.open(store.location.appending(files[place].name)),
      let layout = try TableLayout(of: file, shape, secret: secret.hash)
    else { return nil }
    if file.isReadOnly {
      throw AnimatedImageError(.storeDenied, "a table of the store is read-only")
    }
    return (file, layout)
  }

  private mutating func evict(
    _ victims: ArraySlice<Victim>, from place: Int, until wanted: Int
  ) {
    do throws(AnimatedImageError) {
      let table = try open(place)
      for victim in victims where freed < wanted {
        if let slot = victim.slot, let (file, layout) = table {
          freed += try file.evict(slot, of: layout, unusedSince: victim.use)
        } else if victim.slot == nil, store.removeIfUnused(files[place].name) {
          freed += victim.byteCount
        }
      }
    } catch {
      note(error)
    }
  }

  private mutating func note(_ error: AnimatedImageError) {
    failure = error
    if error.code == .storeUnsupported { canFreeSlots = false }
  }

  /// Removes the file at index `place`, even if this store has it open, unless another process has it open.
  private mutating func remove(_ place: Int) {
    if let shape = secret.shape(ofTable: files[place].name) { store.forget(shape) }
    if store.removeIfUnused(files[place].name) { freed += files[place].status.allocatedBytes }
  }
}
