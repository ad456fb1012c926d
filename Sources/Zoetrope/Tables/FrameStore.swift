internal import Synchronization
public import SystemPackage

#if canImport(FoundationEssentials)
  internal import class FoundationEssentials.ProcessInfo
#else
  internal import class Foundation.ProcessInfo
#endif

/// Rendered frames on disk: what one process decoded, the next one shows without decoding.
///
/// A directory with one table for each size and format of frames. Frames found there lie in the
/// system's file cache, shared by all processes, and are bitmaps without a copy: a ``Bitmap`` from a store
/// keeps its place in the table until the last copy of it is gone. Any number of processes may use one
/// directory at once, may be killed at any moment, and anything in it may be deleted at any time.
/// A frame is served only when its checksum is right.
///
/// As the second level under a ``MemoryFrameCache``, or by itself wherever a ``FrameCaching`` is asked for.
/// Its keys need ``identity(of:)``. Calls may read and write the disk: they are for threads that may
/// block. While a store is open, SIGBUS has a handler, which only concerns tables that somebody truncates,
/// and passes everything else on to the handler that was there before.
public final class FrameStore: Sendable {
  /// Where it lies.
  public let directory: FilePath
  /// Bytes that its tables may take on the disk. Processes that write at the same moment may pass it by
  /// one frame each.
  public let byteLimit: Int

  private let state: Mutex<State>

  private struct State: Sendable {
    var secret: StoreSecret
    var tables: [TableShape: FrameTable] = [:]
    /// Shapes whose table could not be opened, why, and until when that is believed.
    var failures: [TableShape: (error: AnimatedImageError, until: ContinuousClock.Instant)] = [:]
    var statistics = FrameStoreStatistics()
    var lastError: AnimatedImageError?
  }

  /// The store of this user: `zoetrope/frames` in `$XDG_CACHE_HOME` when that is an absolute path, else
  /// in `~/.cache`; nil without a home.
  public static var defaultDirectory: FilePath? {
    let environment = ProcessInfo.processInfo.environment
    if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") {
      return FilePath(cache).appending("zoetrope").appending("frames")
    }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return FilePath(home).appending(".cache").appending("zoetrope").appending("frames")
  }

  /// Opens the store in `directory`, or makes it, for this user alone.
  ///
  /// - Parameters:
  ///   - directory: Where it lies; missing directories are made.
  ///   - byteLimit: Bytes that it may take on the disk. Default: 256 MiB.
  /// - Throws: `storeDenied` when the directory may not be written or others may, `storeFull` when the
  ///   disk is full, `io`.
  public init(
    at directory: FilePath, byteLimit: Int = 256 << 20
  ) throws(AnimatedImageError) {
    self.directory = directory
    self.byteLimit = max(byteLimit, 0)
    state = Mutex(State(secret: try StoreSecret.load(in: directory)))
  }

  // MARK: Frames

  /// The frame kept under `key`.
  ///
  /// Its pixels lie in the file. Nil also when the store cannot be used; ``lastError`` says why.
  public func frame(for key: FrameKey) -> CachedFrame? {
    let found: CachedFrame? =
      attempt(shape: TableShape(key), creating: false) {
        (table, secret) throws(AnimatedImageError) in
        try table.frame(for: TableKey(key, secret: secret.hash))
      } ?? nil
    state.withLock { state in
      if found == nil { state.statistics.misses += 1 } else { state.statistics.hits += 1 }
    }
    return found
  }

  /// Keeps `frame` under `key`, if it can.
  public func store(_ frame: CachedFrame, for key: FrameKey) {
    do throws(AnimatedImageError) { try keep(frame, for: key) } catch { note(error) }
  }

  /// Keeps `frame` under `key`.
  ///
  /// - Throws: When it is not kept: `storeBusy` when each place where it could lie is in use,
  ///   `storeFull`, `storeDenied`, `storeDamaged`, `storeUnsupported`, `io`.
  public func keep(_ frame: CachedFrame, for key: FrameKey) throws(AnimatedImageError) {
    let shape = TableShape(key)
    // A table that was removed meanwhile is made anew.
    for isLast in [false, true] {
      do throws(AnimatedImageError) {
        guard let (table, secret) = try table(shape, creating: true) else { return }
        try table.store(frame, for: TableKey(key, secret: secret.hash)) {
          makeRoom(for: table)
        }
        state.withLock { $0.statistics.insertions += 1 }
        return
      } catch {
        guard error.code == .storeDamaged, !isLast else { throw error }
        forget(shape)
      }
    }
  }

  /// Runs `body` with the table of `shape`; nil, noted, when it fails, or when there is no table.
  private func attempt<Result>(
    shape: TableShape, creating: Bool,
    _ body: (FrameTable, StoreSecret) throws(AnimatedImageError) -> Result
  ) -> Result? {
    do throws(AnimatedImageError) {
      guard let (table, secret) = try table(shape, creating: creating) else { return nil }
      return try body(table, secret)
    } catch {
      if error.code == .storeDamaged { forget(shape) }
      note(error)
      return nil
    }
  }

  /// Why a frame was last not kept, or could not be looked for.
  public var lastError: AnimatedImageError? { state.withLock { $0.lastError } }

  func note(_ error: AnimatedImageError) { state.withLock { $0.lastError = error } }

  // MARK: Tables

  /// The table of `shape`; nil when there is none and it is not to be made.
  private func table(
    _ shape: TableShape, creating: Bool
  ) throws(AnimatedImageError) -> (FrameTable, StoreSecret)? {
    let now = ContinuousClock.now
    let limit = byteLimit
    // The disk is read and written under the lock: a table is opened once.
    return try state.withLock { (state) throws(AnimatedImageError) in
      if let table = state.tables[shape] {
        // Another process may have removed it, and a third one made it anew.
        do throws(AnimatedImageError) {
          try table.checkFile()
          return (table, state.secret)
        } catch { state.tables[shape] = nil }
      }
      if let failure = state.failures[shape], failure.until > now { throw failure.error }
      let path = directory.appending(state.secret.tableName(of: shape))
      if !creating, !TableDirectory.exists(path) { return nil }
      do throws(AnimatedImageError) {
        if !TableDirectory.exists(directory.appending(StoreSecret.fileName)) {
          state.secret = try StoreSecret.load(in: directory, preferring: state.secret)
        }
        let table = try FrameTable.open(
          directory.appending(state.secret.tableName(of: shape)), shape, byteLimit: limit,
          state.secret.hash)
        if state.tables.count >= Self.maximumTableCount, let other = state.tables.first?.key {
          state.tables[other] = nil
        }
        state.tables[shape] = table
        state.failures[shape] = nil
        return (table, state.secret)
      } catch {
        state.failures[shape] = (error, now + .seconds(1))
        throw error
      }
    }
  }

  /// Tables open at one time.
  private static var maximumTableCount: Int { 16 }

  private func forget(_ shape: TableShape) {
    let table = state.withLock { $0.tables.removeValue(forKey: shape) }
    _ = consume table
  }

  /// All tables that are on the disk, opened.
  private func allTables() -> [FrameTable] {
    let secret = state.withLock { $0.secret }
    return TableDirectory.files(in: directory).compactMap { file in
      guard let shape = secret.shape(ofTable: file.name) else { return nil }
      return try? table(shape, creating: false)?.0
    }
  }

  // MARK: Limits

  /// Whether `table` may take room for one more frame, once others have given theirs if need be.
  private func makeRoom(for table: FrameTable) -> Bool {
    let needed = table.layout.stride
    if usedBytes + needed <= byteLimit { return true }
    // Frames in its own sets are replaced first; it is asked again when there are none.
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

  /// Tables of all versions and secrets, and what writers that were killed left behind.
  private func files() -> [(name: String, status: TableFile.Status)] {
    TableDirectory.files(in: directory).filter { $0.name != StoreSecret.fileName }
  }

  private var usedBytes: Int { files().reduce(0) { $0 + $1.status.allocatedBytes } }

  /// Gives frames up, the tables that were used longest ago first, until the store takes at most
  /// `byteCount` bytes, and removes what other versions and killed processes left behind.
  public func prune(to byteCount: Int) throws(AnimatedImageError) {
    let secret = state.withLock { $0.secret }
    let now = FileStamp.now()
    for file in files() where secret.shape(ofTable: file.name) == nil {
      // A new table has its temporary name for milliseconds.
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

  /// Forgets every frame of the image with these bytes, in every size and format.
  public func remove(_ content: ContentIdentity) {
    for table in allTables() {
      do throws(AnimatedImageError) { try table.remove(content) } catch { note(error) }
    }
  }

  /// Forgets the frames of one size and format: of every image, or of the one with these bytes.
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

  /// Forgets everything, in every process. Bitmaps in use live on; the disk has their room back when the
  /// last process that had the table open has let it go.
  public func removeAll() {
    index.prune(to: 0)
    for file in files() { TableDirectory.remove(directory.appending(file.name)) }
    let tables = state.withLock { state in
      defer { state.tables = [:] }
      return state.tables
    }
    _ = consume tables
  }

  /// Reads every frame and drops those that are not what was written.
  ///
  /// - Returns: How many frames are intact, and how many were dropped.
  public func verify() throws(AnimatedImageError) -> (intact: Int, dropped: Int) {
    var sum = (intact: 0, dropped: 0)
    for table in allTables() {
      let counts = try table.verify()
      sum = (sum.intact + counts.intact, sum.dropped + counts.dropped)
    }
    return sum
  }

  /// What the store holds, and what this process did with it. Reads every table's list of frames.
  public var statistics: FrameStoreStatistics {
    var statistics = state.withLock { $0.statistics }
    for table in allTables() {
      guard let usage = try? table.usage() else { continue }
      statistics.frameCount += usage.frames
      statistics.tables.append(
        FrameStoreStatistics.Table(
          size: table.layout.shape.size, format: table.layout.shape.format,
          frameCount: usage.frames, capacity: table.layout.slotCount, byteCount: usage.bytes))
    }
    statistics.byteCount = usedBytes
    return statistics
  }

  // MARK: Identities

  /// The identity of the image's bytes, as this store's keys need it: the same in every process.
  ///
  /// Reads the whole file, 1 MiB at a time, unless it is known.
  ///
  /// - Throws: As ``AnimatedImage/contentIdentity()``.
  public func identity(of image: AnimatedImage) throws(AnimatedImageError) -> ContentIdentity {
    try identity(of: image) { Task.isCancelled }
  }

  /// What is known of files.
  var index: StoreIndex {
    StoreIndex(
      directory: directory.appending("index"), secret: state.withLock { $0.secret.hash })
  }
}

/// What a ``FrameStore`` holds, and what this process did with it.
public struct FrameStoreStatistics: Sendable, Hashable {
  /// The frames of one size and format.
  public struct Table: Sendable, Hashable {
    /// Their size.
    public let size: PixelSize
    /// Their format.
    public let format: PixelFormat
    /// How many there are.
    public let frameCount: Int
    /// How many there may be.
    public let capacity: Int
    /// Bytes on the disk.
    public let byteCount: Int
  }

  /// Frames held, of all sizes and formats.
  public internal(set) var frameCount = 0
  /// Bytes on the disk, of all tables.
  public internal(set) var byteCount = 0
  /// The tables.
  public internal(set) var tables: [Table] = []
  /// Lookups of this process that found a frame.
  public internal(set) var hits = 0
  /// Lookups that did not.
  public internal(set) var misses = 0
  /// Frames that this process kept.
  public internal(set) var insertions = 0
}

extension FrameStore: FrameCaching {
  /// True: tables are read and written.
  public var mayBlock: Bool { true }
}

extension TableShape {
  /// The table in which a frame lies.
  init(_ key: FrameKey) {
    self.init(size: key.animation.rendition.size, format: key.animation.rendition.format)
  }
}
