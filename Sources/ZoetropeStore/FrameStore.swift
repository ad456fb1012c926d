internal import Synchronization
public import SystemPackage

/// A store of rendered frames on disk, which lets other processes and later runs show them without decoding.
///
/// A store is a directory with one table per frame size and format. Frames that are found in a table stay in the
/// system's file cache, which all processes share, and are returned without a copy: a ``Bitmap`` from a store keeps its
/// slot in the table until the last copy of the bitmap is released. Any number of processes may use one directory at
/// the same time, and may be killed at any moment. Anything in the directory may be deleted at any time. A frame is
/// returned only if its checksum is correct.
///
/// A store that the current user may read but not write returns frames but does not store any. See ``isReadOnly``.
///
/// Use a store as the second level behind a ``MemoryFrameCache``, or alone wherever a ``FrameCaching`` is accepted. The
/// keys of frames in a store must contain the identities that the store's ``identity(of:)`` returns. Calls may read and
/// write the disk, so make them on threads that are allowed to block. While a store is open, it handles SIGBUS for
/// tables that another program truncates, and passes every other fault on to the previous handler.
public final class FrameStore: Sendable {
  /// The directory of the store, as it was given.
  public let directory: FilePath
  /// The absolute path of ``directory``. The store opens files as long as it exists, even if the program changes its
  /// directory.
  package let location: FilePath
  /// The maximum number of bytes on disk. Each process that writes at the same time as others may exceed the limit by
  /// one frame or by a 64th of the limit, whichever is more.
  ///
  /// The limit is this process's own: another process that uses the directory with a smaller limit
  /// evicts down to that limit whenever it stores a frame.
  public let byteLimit: Int
  /// Whether the store is read-only, because the current user may not write to its directory. Frames in a read-only
  /// store are looked up as usual, but nothing is stored, evicted or removed.
  public let isReadOnly: Bool
  /// The formats with which the store was opened. Formats of the same family are filled together.
  package let formats: [FrameFormat]

  let secretPath: FilePath
  private let indexDirectory: FilePath
  /// Returns the time in nanoseconds since 1970.
  let clock: @Sendable () -> Int64
  let state: Mutex<State>
  let room = Mutex(Room())
  let passes = StorePasses()
  /// This store's number among the holders of idle files.
  private let holder = IdleFiles.shared.newNumber()

  struct State: Sendable {
    var secret: StoreSecret
    var tables = OpenTables()
    var statistics = FrameStoreStatistics()
    var lastError: AnimatedImageError?
  }

  /// The default directory of a store of the current user: `zoetrope/frames` in `$XDG_CACHE_HOME` if that is an
  /// absolute path, otherwise in `~/.cache`, or nil if there is no home directory.
  public static var defaultDirectory: FilePath? {
    if let cache = environmentVariable("XDG_CACHE_HOME"), cache.hasPrefix("/") {
      return FilePath(cache).appending("zoetrope").appending("frames")
    }
    guard let home = environmentVariable("HOME"), home.hasPrefix("/") else { return nil }
    return FilePath(home).appending(".cache").appending("zoetrope").appending("frames")
  }

  /// Opens the store in `directory`, or creates it with access for the current user only.
  ///
  /// If the current user may not write to the directory, the store is read-only. The directory must then belong to the
  /// current user or to root, and no other user may write to it or to its files.
  ///
  /// - Parameters:
  ///   - directory: The directory of the store. It is created if it is missing, and so are its parents.
  ///     A relative path refers to the directory that is current at the time of the call.
  ///   - byteLimit: The maximum number of bytes on disk. Default: 256 MiB.
  ///   - formats: The formats to fill together: when a frame is decoded for one of these formats, the frame is stored
  ///     in all of them that have the same ``FrameFormat/family``. Frames can still be stored in formats that are not
  ///     listed here. Default: none.
  /// - Throws: `storeDenied` if the current user may write to the directory but other users may read or write it too,
  ///   or if there is no store and the current user may not create one; `storeFull` if the disk is full; `io` if
  ///   another system call fails; `parameter` if the path is empty.
  public convenience init(
    at directory: some FilePathConvertible, byteLimit: Int = 256 << 20, formats: [FrameFormat] = []
  ) throws(AnimatedImageError) {
    try self.init(at: directory.filePath, byteLimit: byteLimit, formats: formats) {
      FileStamp.now()
    }
  }

  /// Opens or creates a store, like the public initializer, but with a clock that the caller provides.
  ///
  /// - Parameter clock: A function that returns the time in nanoseconds since 1970.
  package init(
    at directory: FilePath, byteLimit: Int, formats: [FrameFormat] = [],
    clock: @escaping @Sendable () -> Int64
  ) throws(AnimatedImageError) {
    if directory.isEmpty { throw AnimatedImageError(.parameter, "the path of a store is empty") }
    self.directory = directory
    location = FileSystem.absolute(directory)
    self.clock = clock
    self.byteLimit = max(byteLimit, 0)
    self.formats = formats
    secretPath = location.appending(StoreSecret.fileName)
    indexDirectory = location.appending("index")
    isReadOnly = try !TableDirectory.make(location)
    state = Mutex(State(secret: try StoreSecret.load(in: location, readOnly: isReadOnly)))
    IdleFiles.shared.add(self, holder)
  }

  deinit { IdleFiles.shared.remove(holder) }

  // MARK: Frames

  /// Returns the frame stored under `key`.
  ///
  /// The pixels of the frame stay in the mapped file and are not copied. Returns nil if there is no such frame, or if
  /// the store cannot be used, in which case ``lastError`` has the reason.
  public func frame(for key: FrameKey) -> CachedFrame? { frame(for: key, countsMiss: true) }

  /// Like ``frame(for:)``, but a miss counts only if `countsMiss` is true.
  package func frame(for key: FrameKey, countsMiss: Bool) -> CachedFrame? {
    let found = lookUp(key)
    state.withLock { state in
      if found != nil {
        state.statistics.hits += 1
      } else if countsMiss {
        state.statistics.misses += 1
      }
    }
    return found
  }

  /// Like ``frame(for:)``, but does not count as a lookup.
  package func lookUp(_ key: FrameKey) -> CachedFrame? {
    attempt(shape: TableShape(key), creating: false) {
      (table, secret) throws(AnimatedImageError) in
      try table.frame(for: TableKey(key, secret: secret.hash))
    } ?? nil
  }

  /// Stores `frame` under `key` if possible. If storing fails, ``lastError`` has the reason.
  public func storeIfPossible(_ frame: CachedFrame, for key: FrameKey) {
    do throws(AnimatedImageError) { try store(frame, for: key) } catch { note(error) }
  }

  /// Stores `frame` under `key`.
  ///
  /// - Throws: `storeBusy` if every slot that may hold the frame is in use; `storeFull` if the disk is full or the byte
  ///   limit leaves no room; `storeDenied` if the store or the table is read-only, or other users have access to it;
  ///   `storeDamaged` if other processes remove the table again and again; `storeUnsupported` if the file system has no
  ///   locks or the table cannot be mapped; `io` if another system call fails; `parameter` if the key is for another
  ///   size or format, or if describing the frame's damage takes more than 160 bytes.
  public func store(_ frame: CachedFrame, for key: FrameKey) throws(AnimatedImageError) {
    let shape = TableShape(key)
    let size = key.animation.rendition.size
    guard frame.bitmap.size == size, !size.isEmpty else {
      throw AnimatedImageError(.parameter, "the frame does not have the key's size, \(size)")
    }
    try checkWritable()
    // If the table was removed meanwhile, the second attempt creates it again.
    for isLast in [false, true] {
      do throws(AnimatedImageError) {
        guard let (table, secret) = try table(shape, creating: true) else { return }
        try table.store(
          frame, for: TableKey(key, secret: secret.hash), mayGrow: { makeRoom($0) })
        state.withLock { $0.statistics.insertions += 1 }
        return
      } catch {
        // If there was no room because the directory could not be read, the limit is not the reason. An error of a full
        // disk has a system error.
        if error.code == .storeFull, error.systemError == nil,
          let failure = room.withLock({ $0.failure })
        {
          throw failure
        }
        guard error.code == .storeDamaged, !isLast else { throw error }
        forget(shape)
      }
    }
  }

  /// Returns whether there is a frame under `key`. The call does not read the pixels of the frame, does not count as a
  /// lookup, and does not protect the frame from eviction.
  public func contains(_ key: FrameKey) -> Bool {
    attempt(shape: TableShape(key), creating: false) {
      (table, secret) throws(AnimatedImageError) in
      table.contains(TableKey(key, secret: secret.hash))
    } ?? false
  }

  /// The last error that prevented storing or looking up a frame, or nil if there has been none.
  public var lastError: AnimatedImageError? { state.withLock { $0.lastError } }

  func note(_ error: AnimatedImageError) { state.withLock { $0.lastError = error } }

  /// Throws `storeDenied` if the store is read-only.
  package func checkWritable() throws(AnimatedImageError) {
    if isReadOnly {
      throw AnimatedImageError(
        .storeDenied, "\(directory.quoted) is read-only, so nothing is stored there")
    }
  }

  // MARK: Identities

  /// Returns the identity by which this store's keys refer to the bytes of the image. The identity is the same in every
  /// process that uses the store.
  ///
  /// Reads the whole file, 1 MiB at a time, unless the store already knows the file's identity.
  ///
  /// - Throws: The errors of ``AnimatedImage/contentIdentity()``.
  public func identity(of image: AnimatedImage) throws(AnimatedImageError) -> ContentIdentity {
    try identity(of: image) { Task.isCancelled }
  }

  /// The records about files that were opened or hashed through this store.
  var index: StoreIndex {
    StoreIndex(
      directory: indexDirectory, secret: state.withLock { $0.secret.hash }, isReadOnly: isReadOnly)
  }
}

extension FrameStore: FrameCaching {
  /// Always true, because looking up a frame reads the disk and storing a frame writes to it.
  public var mayBlock: Bool { true }
}

extension FrameCaching {
  /// The frame store among this cache and the caches behind it, or nil if none of them is a frame store.
  package var diskStore: FrameStore? { levels.lazy.compactMap { $0 as? FrameStore }.first }
}

extension TableShape {
  /// Creates the shape of the table that holds the frame with `key`.
  init(_ key: FrameKey) {
    let rendition = key.animation.rendition
    self.init(
      size: rendition.table?.box ?? rendition.size, format: rendition.format,
      name: rendition.table)
  }
}
