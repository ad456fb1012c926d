internal import Synchronization
public import SystemPackage

#if canImport(FoundationEssentials)
  internal import class FoundationEssentials.ProcessInfo
#else
  internal import class Foundation.ProcessInfo
#endif

/// Stores rendered frames on disk, so that the next process shows them without decoding.
///
/// A directory with one table per frame size and format. Frames found there stay in the
/// system's file cache, shared by all processes, and are returned without a copy: a ``Bitmap``
/// from a store keeps its slot in the table until its last copy is released. Any number of
/// processes may use one directory at once and may be killed at any moment. Anything in the
/// directory may be deleted at any time. A frame is served only if its checksum is right.
///
/// Use it as the second level under a ``MemoryFrameCache``, or alone wherever a
/// ``FrameCaching`` is accepted. Its keys need ``identity(of:)``. Calls may read and write the
/// disk, so make them on threads that may block. While a store is open, it handles SIGBUS for
/// tables that another program truncates, and passes every other fault on to the previous
/// handler.
public final class FrameStore: Sendable {
  /// The directory.
  public let directory: FilePath
  /// The maximum number of bytes on disk. Processes that write at the same moment may exceed it
  /// by one frame each.
  public let byteLimit: Int
  /// The formats whose families are filled together.
  public let formats: [FrameFormat]

  private let secretPath: FilePath
  private let indexDirectory: FilePath
  let state: Mutex<State>
  let passes = StorePasses()

  struct State: Sendable {
    var secret: StoreSecret
    var tables: [TableShape: FrameTable] = [:]
    /// Shapes whose table could not be opened, the error, and when to try again.
    var failures: [TableShape: (error: AnimatedImageError, until: ContinuousClock.Instant)] = [:]
    var statistics = FrameStoreStatistics()
    var lastError: AnimatedImageError?
  }

  /// The store directory of this user: `zoetrope/frames` in `$XDG_CACHE_HOME` if that is an
  /// absolute path, else in `~/.cache`; nil without a home directory.
  public static var defaultDirectory: FilePath? {
    let environment = ProcessInfo.processInfo.environment
    if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") {
      return FilePath(cache).appending("zoetrope").appending("frames")
    }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return FilePath(home).appending(".cache").appending("zoetrope").appending("frames")
  }

  /// Opens the store in `directory`, or creates it with access for this user only.
  ///
  /// - Parameters:
  ///   - directory: The directory; missing ones are created.
  ///   - byteLimit: The maximum number of bytes on disk. Default: 256 MiB.
  ///   - formats: When a frame is decoded for one of these formats, it is stored in all formats of
  ///     its ``FrameFormat/family``. Default: none. Other formats may be used all the same.
  /// - Throws: `storeDenied` if this user may not write to the directory or others may,
  ///   `storeFull` if the disk is full, `io`.
  public init(
    at directory: FilePath, byteLimit: Int = 256 << 20, formats: [FrameFormat] = []
  ) throws(AnimatedImageError) {
    self.directory = directory
    self.byteLimit = max(byteLimit, 0)
    self.formats = formats
    secretPath = directory.appending(StoreSecret.fileName)
    indexDirectory = directory.appending("index")
    state = Mutex(State(secret: try StoreSecret.load(in: directory)))
  }

  // MARK: Frames

  /// Returns the frame stored under `key`.
  ///
  /// Its pixels lie in the mapped file. Also nil if the store cannot be used; ``lastError`` says
  /// why.
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

  /// Stores `frame` under `key` if possible.
  public func store(_ frame: CachedFrame, for key: FrameKey) {
    do throws(AnimatedImageError) { try keep(frame, for: key) } catch { note(error) }
  }

  /// Stores `frame` under `key`, or throws.
  ///
  /// - Throws: `storeBusy` if every slot for the frame is in use, `storeFull`, `storeDenied`,
  ///   `storeDamaged`, `storeUnsupported`, `io`.
  public func keep(_ frame: CachedFrame, for key: FrameKey) throws(AnimatedImageError) {
    let shape = TableShape(key)
    // If the table was removed meanwhile, the second round creates it again.
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

  /// Whether there is a frame under `key`. Does not read its pixels, counts as no lookup and does not
  /// keep the frame from being evicted.
  public func contains(_ key: FrameKey) -> Bool {
    attempt(shape: TableShape(key), creating: false) {
      (table, secret) throws(AnimatedImageError) in
      table.contains(TableKey(key, secret: secret.hash))
    } ?? false
  }

  /// Runs `body` with the table of `shape`. Returns nil without a table, and after an error,
  /// which it records.
  func attempt<Result>(
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

  /// The last error that kept a frame from being stored or looked up.
  public var lastError: AnimatedImageError? { state.withLock { $0.lastError } }

  func note(_ error: AnimatedImageError) { state.withLock { $0.lastError = error } }

  // MARK: Tables

  /// The table of `shape`; nil if there is none and it is not to be created.
  func table(
    _ shape: TableShape, creating: Bool
  ) throws(AnimatedImageError) -> (FrameTable, StoreSecret)? {
    let now = ContinuousClock.now
    let limit = byteLimit
    // Reads and writes the disk under the lock, so that a table is opened only once.
    return try state.withLock { (state) throws(AnimatedImageError) in
      if let table = state.tables[shape] {
        // Another process may have removed the table, and a third one created it again.
        do throws(AnimatedImageError) {
          try table.checkFile()
          return (table, state.secret)
        } catch { state.tables[shape] = nil }
      }
      if let failure = state.failures[shape], failure.until > now { throw failure.error }
      var path = directory.appending(state.secret.tableName(of: shape))
      if !creating, !TableDirectory.exists(path) { return nil }
      do throws(AnimatedImageError) {
        if !TableDirectory.exists(secretPath) {
          state.secret = try StoreSecret.load(in: directory, preferring: state.secret)
          path = directory.appending(state.secret.tableName(of: shape))
        }
        let table = try FrameTable.open(
          path, shape, byteLimit: limit, state.secret.hash, creating: creating)
        if state.tables.count >= Self.maximumTableCount, let other = state.tables.first?.key {
          state.tables[other] = nil
        }
        state.tables[shape] = table
        state.failures[shape] = nil
        if creating, let name = shape.name { removeTables(supersededBy: name, state.secret) }
        return (table, state.secret)
      } catch {
        // A damaged table is replaced when a frame is next stored there.
        if error.code != .storeDamaged { state.failures[shape] = (error, now + .seconds(1)) }
        throw error
      }
    }
  }

  /// The maximum number of open tables.
  private static var maximumTableCount: Int { 16 }

  func forget(_ shape: TableShape) {
    let table = state.withLock { $0.tables.removeValue(forKey: shape) }
    _ = consume table
  }

  /// Runs `body` with the table of `shape`, and closes it unless it was open before: there may be
  /// more tables than can be mapped at once. Nil without a table.
  func withTable<Result>(
    _ shape: TableShape, _ body: (FrameTable) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result? {
    let wasOpen = state.withLock { $0.tables[shape] != nil }
    defer { if !wasOpen { forget(shape) } }
    guard let (table, _) = try table(shape, creating: false) else { return nil }
    return try body(table)
  }

  /// Runs `body` with every table on disk in turn.
  ///
  /// - Parameter failed: Called with the errors of opening a table and of `body`, and the table's file.
  func forEachTable(
    _ body: (FrameTable) throws(AnimatedImageError) -> Void,
    failed: (AnimatedImageError, FilePath) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) {
    let secret = state.withLock { $0.secret }
    for file in TableDirectory.files(in: directory) {
      guard let shape = secret.shape(ofTable: file.name) else { continue }
      do throws(AnimatedImageError) {
        _ = try withTable(shape, body)
      } catch {
        try failed(error, directory.appending(file.name))
      }
    }
  }

  /// Runs `body` with every table on disk in turn, and records errors.
  func forEachTable(_ body: (FrameTable) throws(AnimatedImageError) -> Void) {
    do throws(AnimatedImageError) {
      try forEachTable(body) { (error, _) throws(AnimatedImageError) in note(error) }
    } catch {
      note(error)
    }
  }

  // MARK: Identities

  /// Returns the identity of the image's bytes for this store's keys. It is the same in every
  /// process.
  ///
  /// Reads the whole file, 1 MiB at a time, unless the store knows its identity.
  ///
  /// - Throws: The errors of ``AnimatedImage/contentIdentity()``.
  public func identity(of image: AnimatedImage) throws(AnimatedImageError) -> ContentIdentity {
    try identity(of: image) { Task.isCancelled }
  }

  /// Records about files that were opened or hashed.
  var index: StoreIndex {
    StoreIndex(directory: indexDirectory, secret: state.withLock { $0.secret.hash })
  }
}

extension FrameStore: FrameCaching {
  /// True: lookups read the disk and stores write it.
  public var mayBlock: Bool { true }
  /// The store itself.
  public var backing: FrameStore? { self }
}

extension TableShape {
  /// The shape of the table that holds the frame.
  init(_ key: FrameKey) {
    let rendition = key.animation.rendition
    self.init(
      size: rendition.table?.box ?? rendition.size, format: rendition.format,
      name: rendition.table)
  }
}
