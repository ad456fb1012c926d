internal import Synchronization

extension FrameStore {
  /// Whether `table` may occupy space for one more frame, after evicting others if necessary.
  func makeRoom(for table: FrameTable) -> Bool {
    let needed = table.layout.stride
    if usedBytes + needed <= byteLimit { return true }
    // Evict from this table first. If refused, the caller replaces a frame of the same set, and
    // asks again if all of those are in use.
    let freed = (try? table.reclaim(needed)) ?? 0
    if freed >= needed, usedBytes + needed <= byteLimit { return true }
    let secret = state.withLock { $0.secret }
    let others = files().filter { $0.name != secret.tableName(of: table.layout.shape) }
    for file in others.sorted(by: { $0.status.modified < $1.status.modified }) {
      TableDirectory.remove(directory.appending(file.name))
      if usedBytes + needed <= byteLimit { return true }
    }
    return false
  }

  /// Tables of all versions and secrets, and leftovers of killed writers. No files of others.
  private func files() -> [(name: String, status: TableFile.Status)] {
    TableDirectory.files(in: directory).filter { StoreFiles.isTable($0.name) }
  }

  private var usedBytes: Int { files().reduce(0) { $0 + $1.status.allocatedBytes } }

  /// Evicts frames, from the least recently used tables first, until the store takes at most
  /// `byteCount` bytes. Also removes tables of other versions and leftovers of killed processes.
  public func prune(to byteCount: Int) throws(AnimatedImageError) {
    let secret = state.withLock { $0.secret }
    let now = FileStamp.now()
    for file in files() where secret.shape(ofTable: file.name) == nil {
      // A new table has its temporary name for milliseconds only.
      if now - file.status.modified > 60_000_000_000 {
        TableDirectory.remove(directory.appending(file.name))
      }
    }
    if byteCount <= 0 { index.prune(to: 0) }
    for table in allTables() { try table.shrink() }
    for file in files().sorted(by: { $0.status.modified < $1.status.modified }) {
      let surplus = usedBytes - max(byteCount, 0)
      guard surplus > 0 else { return }
      guard let shape = secret.shape(ofTable: file.name) else { continue }
      if let table = try table(shape, creating: false)?.0,
        file.status.allocatedBytes - table.layout.pixelsOffset > surplus
      {
        if try table.reclaim(surplus) >= surplus { return }
      } else {
        TableDirectory.remove(directory.appending(file.name))
        forget(shape)
      }
    }
  }

  // MARK: Removing

  /// Removes every frame of the image with this content, in every size and format.
  public func remove(_ content: ContentIdentity) {
    for table in allTables() {
      do throws(AnimatedImageError) { try table.remove(content) } catch { note(error) }
    }
  }

  /// Removes the frames of one size and format: of the image with this content, or of all images.
  public func remove(
    _ content: ContentIdentity? = nil, size: PixelSize, format: PixelFormat = .rgba8
  ) {
    let shape = TableShape(size: size, format: format)
    guard let content else {
      let secret = state.withLock { $0.secret }
      TableDirectory.remove(directory.appending(secret.tableName(of: shape)))
      return forget(shape)
    }
    _ = attempt(shape: shape, creating: false) { (table, _) throws(AnimatedImageError) in
      try table.remove(content)
    }
  }

  /// Removes the frames of one format: of the image with this content, or of all images.
  ///
  /// The latter includes frames of formats with this name and other parameters.
  public func remove(_ content: ContentIdentity? = nil, in format: FrameFormat) {
    guard let name = format.rendering.table else { return }
    let secret = state.withLock { $0.secret }
    for file in files() {
      guard let shape = secret.shape(ofTable: file.name), let other = shape.name else { continue }
      if let content {
        guard other == name else { continue }
        _ = attempt(shape: shape, creating: false) { (table, _) throws(AnimatedImageError) in
          try table.remove(content)
        }
      } else if other.prefix == name.prefix {
        TableDirectory.remove(directory.appending(file.name))
        forget(shape)
      }
    }
  }

  /// Removes tables of formats with this name and other parameters that no process has changed for
  /// an hour: two versions of a program may be running at once.
  func removeTables(supersededBy name: TableName, _ secret: StoreSecret) {
    let now = FileStamp.now()
    for file in files() {
      guard let other = secret.shape(ofTable: file.name)?.name, other.prefix == name.prefix,
        other != name, now - file.status.modified > 3_600_000_000_000
      else { continue }
      TableDirectory.remove(directory.appending(file.name))
    }
  }

  /// Removes all frames, for every process. Bitmaps in use stay valid; the disk space is freed
  /// when the last process that has the table open closes it.
  public func removeAll() {
    index.prune(to: 0)
    for file in files() { TableDirectory.remove(directory.appending(file.name)) }
    let tables = state.withLock { state in
      defer { state.tables = [:] }
      return state.tables
    }
    _ = consume tables
  }

  /// Reads every frame and removes those whose checksum is wrong.
  ///
  /// - Returns: The number of intact frames, and of removed ones.
  public func verify() throws(AnimatedImageError) -> (intact: Int, dropped: Int) {
    var sum = (intact: 0, dropped: 0)
    for table in allTables() {
      let counts = try table.verify()
      sum = (sum.intact + counts.intact, sum.dropped + counts.dropped)
    }
    return sum
  }

  /// The contents of the store and the counters of this process. Reads the entries of all tables.
  public var statistics: FrameStoreStatistics {
    var statistics = state.withLock { $0.statistics }
    for table in allTables() {
      guard let usage = try? table.usage() else { continue }
      statistics.frameCount += usage.frames
      statistics.tables.append(
        FrameStoreStatistics.Table(
          name: table.layout.shape.name?.formatName, size: table.layout.shape.size,
          format: table.layout.shape.format,
          frameCount: usage.frames, capacity: table.layout.slotCount, byteCount: usage.bytes))
    }
    statistics.byteCount = usedBytes
    (statistics.recordCount, statistics.recordByteCount) = recordUsage
    return statistics
  }
}

/// The contents of a ``FrameStore``, and the counters of this process.
public struct FrameStoreStatistics: Sendable, Hashable {
  /// The frames of one size and pixel format, or of one ``FrameFormat``.
  public struct Table: Sendable, Hashable {
    /// The name of the ``FrameFormat``; nil if it is the table of a size and pixel format.
    public let name: String?
    /// The size of the frames; in the table of a ``FrameFormat``, of the largest possible one.
    public let size: PixelSize
    /// The pixel format of the frames.
    public let format: PixelFormat
    /// Number of frames stored.
    public let frameCount: Int
    /// The maximum number of frames.
    public let capacity: Int
    /// Bytes on disk.
    public let byteCount: Int
  }

  /// Number of frames stored, in all sizes and formats.
  public internal(set) var frameCount = 0
  /// Bytes on disk, of all tables. ``FrameStore/byteLimit`` limits them.
  public internal(set) var byteCount = 0
  /// Number of records about files, which are kept apart from frames.
  public internal(set) var recordCount = 0
  /// Bytes on disk, of all records; at most 32 MiB.
  public internal(set) var recordByteCount = 0
  /// The tables.
  public internal(set) var tables: [Table] = []
  /// Lookups by this process that found a frame.
  public internal(set) var hits = 0
  /// Lookups by this process that found none.
  public internal(set) var misses = 0
  /// Frames stored by this process.
  public internal(set) var insertions = 0
}
