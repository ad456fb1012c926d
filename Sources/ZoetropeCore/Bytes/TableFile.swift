internal import Glibc
internal import Synchronization
package import SystemPackage
internal import ZoetropeShims

extension AnimatedImageError {
  /// A failed system call on a file of a frame store.
  package static func store(_ number: Int32, _ action: String) -> AnimatedImageError {
    let code: Code =
      switch number {
      case ENOSPC, EDQUOT, EFBIG: .storeFull
      case EROFS, EACCES, EPERM, ELOOP: .storeDenied
      case ENOLCK, ENOTSUP, EINVAL, ENOSYS, ENODEV: .storeUnsupported
      case ENOENT, ESTALE: .storeDamaged
      default: .io
      }
    let error = Errno(rawValue: number)
    return AnimatedImageError(code, "cannot \(action): \(error)", systemError: error)
  }
}

/// A file that several processes read and write concurrently.
///
/// Written with `pwrite`, so that a full disk is an error and not SIGBUS. Locks belong to the open
/// file description (`F_OFD_SETLK`): they end with the process and, unlike POSIX locks, survive
/// closing another descriptor of the file. Two of these objects on one file exclude each other; two
/// threads with one object do not.
///
/// Unsafe code: system calls that take addresses, each of a buffer that lives for the call.
@safe
package final class TableFile: Sendable {
  package struct Status: Sendable {
    package let byteCount: Int
    /// Bytes allocated on disk, fewer than the size if the file has holes.
    package let allocatedBytes: Int
    /// 0 once the file is removed.
    package let linkCount: Int
    /// Nanoseconds since 1970.
    package let modified: Int64
    private let mode: mode_t
    private let owner: uid_t

    init(_ status: stat) {
      byteCount = Int(status.st_size)
      allocatedBytes = Int(status.st_blocks) * 512
      linkCount = Int(status.st_nlink)
      modified = status.st_mtim.nanoseconds
      (mode, owner) = (status.st_mode, status.st_uid)
    }

    var isRegular: Bool { mode & S_IFMT == S_IFREG }
    var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
    /// Whether it belongs to this user, and nobody else may read or write it.
    var isPrivate: Bool { owner == geteuid() && mode & 0o077 == 0 }
    /// Whether nobody but this user and root may write it.
    var isTrusted: Bool { (owner == 0 || owner == geteuid()) && mode & 0o022 == 0 }
  }

  package enum Lock { case none, shared, exclusive }

  /// Bytes in a memory page.
  package static var pageSize: Int { sysconf(Int32(_SC_PAGESIZE)) }

  fileprivate let descriptor: FileDescriptor
  /// Whether it is open for reading only, because this user may not write it.
  package let isReadOnly: Bool
  /// Whether a hole in this file has freed space; 0 until one was punched, then 1 for yes and 2 for no.
  private let punching = Atomic(0)

  /// Opens a file of this user alone; or one that this user may read but not write, and nobody but
  /// this user and root may write. Does not follow a symbolic link.
  ///
  /// - Returns: Nil if there is none.
  package static func open(
    _ path: FilePath, creating: Bool = false
  ) throws(AnimatedImageError) -> TableFile? {
    try open(path, creating: creating, .readWrite)
  }

  private static func open(
    _ path: FilePath, creating: Bool, _ mode: FileDescriptor.AccessMode
  ) throws(AnimatedImageError) -> TableFile? {
    let writes = mode == .readWrite
    var options: FileDescriptor.OpenOptions = [.closeOnExec, .noFollow, .nonBlocking]
    if creating { options.formUnion([.create, .exclusiveCreate]) }
    let file: TableFile
    do {
      file = TableFile(
        try IdleFiles.shared.makingRoom {
          if TableCall.open.fails || writes && TableCall.openWriting.fails {
            throw Errno(rawValue: errno)
          }
          return try FileDescriptor.open(
            path, mode, options: options, permissions: creating ? [.ownerReadWrite] : nil)
        }, isReadOnly: !writes)
    } catch {
      guard let error = error as? Errno else { throw .store(EIO, "open \(path)") }
      if error == .interrupted { return try open(path, creating: creating, mode) }
      if error == .noSuchFileOrDirectory, !creating { return nil }
      if writes, !creating,
        [.readOnlyFileSystem, .permissionDenied, .notPermitted].contains(error)
      {
        return try open(path, creating: false, .readOnly)
      }
      throw .store(error.rawValue, "open \(path)")
    }
    let status = try file.status
    guard status.isRegular, writes ? status.isPrivate : status.isTrusted else {
      throw AnimatedImageError(
        .storeDenied,
        "\(path) is not a file \(writes ? "of this user alone" : "that only its owner may write")")
    }
    return file
  }

  private init(_ descriptor: FileDescriptor, isReadOnly: Bool) {
    self.descriptor = descriptor
    self.isReadOnly = isReadOnly
  }

  deinit { try? descriptor.close() }

  package var status: Status {
    get throws(AnimatedImageError) {
      var status = stat()
      while unsafe TableCall.stat.fails || fstat(descriptor.rawValue, &status) != 0 {
        if errno != EINTR { throw .store(errno, "stat") }
      }
      return Status(status)
    }
  }

  /// Reads up to `count` bytes from `offset` on, as many as there are.
  package func read(_ count: Int, at offset: Int) throws(AnimatedImageError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let wanted = TableCall.read.granted(count - done)
      let step = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe wanted < 0
          ? -1
          : pread(
            descriptor.rawValue, buffer.baseAddress.map { unsafe $0 + done }, wanted,
            off_t(offset + done))
      }
      if step == 0 { break }
      if step > 0 { done += step } else if errno != EINTR { throw .store(errno, "read") }
    }
    bytes.removeLast(count - done)
    return bytes
  }

  /// Writes all of `bytes` at `offset`.
  package func write(_ bytes: borrowing RawSpan, at offset: Int) throws(AnimatedImageError) {
    try Self.checkSizeLimit(offset + bytes.byteCount)
    var done = 0
    while done < bytes.byteCount {
      let wanted = TableCall.write.granted(bytes.byteCount - done)
      let step = unsafe bytes.withUnsafeBytes { buffer in
        unsafe wanted < 0
          ? -1
          : pwrite(
            descriptor.rawValue, buffer.baseAddress.map { unsafe $0 + done }, wanted,
            off_t(offset + done))
      }
      // Nothing written and no error: unexpected, but it must not loop forever.
      if step == 0 { throw .store(EIO, "write") }
      if step > 0 { done += step } else if errno != EINTR { throw .store(errno, "write") }
    }
  }

  /// Makes the file `byteCount` bytes long and allocates disk space for the first `allocated`. Only
  /// for a file that nobody else has open.
  package func resize(to byteCount: Int, allocating allocated: Int) throws(AnimatedImageError) {
    try Self.checkSizeLimit(byteCount)
    while TableCall.resize.fails || ftruncate(descriptor.rawValue, off_t(byteCount)) != 0 {
      if errno != EINTR { throw .store(errno, "resize") }
    }
    while true {
      let error =
        TableCall.allocate.fails
        ? errno : posix_fallocate(descriptor.rawValue, 0, off_t(allocated))
      if error == 0 { return }
      if error != EINTR { throw .store(error, "allocate") }
    }
  }

  /// Throws if a file of this process may not be `byteCount` bytes long: the system would end the
  /// process with SIGXFSZ.
  private static func checkSizeLimit(_ byteCount: Int) throws(AnimatedImageError) {
    if byteCount > zt_file_size_limit() { throw .store(EFBIG, "write \(byteCount) bytes") }
  }

  /// What punching a hole has done.
  package enum Hole {
    /// The space is free, and the range reads as zeros.
    case freed
    /// The range may read as zeros, but takes its space.
    case kept
    /// Nothing: the file system has no holes.
    case none
  }

  /// Frees the disk space of `range`, unless an earlier range of this file kept its own.
  ///
  /// Where blocks are larger than the range (ZFS, XFS with blocks of 64 KiB), the system writes zeros, reports
  /// success and frees nothing. So the first time, it is asked where the hole is. The number of allocated bytes
  /// would not tell: other processes write to the file, and ZFS counts seconds later.
  package func punchHole(_ range: Range<Int>) -> Hole {
    if punching.load(ordering: .relaxed) == 2 { return .none }
    let granted = TableCall.punch.granted(2)
    guard granted > 0 else { return errno == EINTR ? punchHole(range) : .none }
    let error = zt_punch_hole(descriptor.rawValue, Int64(range.lowerBound), Int64(range.count))
    guard error == 0 else { return error == EINTR ? punchHole(range) : .none }
    if punching.load(ordering: .relaxed) == 0 {
      let hole = zt_find_hole(descriptor.rawValue, Int64(range.lowerBound))
      let isFreed = granted == 2 && (0..<Int64(range.upperBound)).contains(hole)
      punching.store(isFreed ? 1 : 2, ordering: .relaxed)
      if !isFreed { return .kept }
    }
    return .freed
  }

  /// Changes this object's lock on the byte at `offset`, without waiting.
  ///
  /// - Returns: False if another object's lock conflicts.
  package func setLock(_ lock: Lock, at offset: Int) throws(AnimatedImageError) -> Bool {
    let kind: Int32 =
      switch lock {
      case .none: 0
      case .shared: 1
      case .exclusive: 2
      }
    var error: Int32
    repeat {
      error = TableCall.lock.fails ? errno : zt_lock_byte(descriptor.rawValue, Int64(offset), kind)
    } while error == EINTR
    guard error == 0 || error == EAGAIN else { throw .store(error, "lock") }
    return error == 0
  }
}

/// The bytes of a table, read directly from the system's file cache.
///
/// If the file is truncated or cannot be read, its bytes read as zeros and ``hasGap`` becomes true;
/// see `zt_table.h`. Others may write to the file at any moment: callers validate what they read,
/// or hold a lock.
///
/// Unsafe code: every range is checked against the mapping, which lives from `init` to `deinit`.
@safe
package final class TableMapping: Sendable {
  // The pointer never changes, the bytes are only read, and the mapping ends in `deinit`, when no
  // reference to this object is left.
  private nonisolated(unsafe) let start: UnsafePointer<UInt8>
  private let byteCount: Int

  /// Maps the first `byteCount` bytes of `file`; nil if the system cannot.
  package init?(_ file: TableFile, byteCount: Int) {
    guard byteCount > 0, !TableCall.map.fails,
      let start = unsafe zt_map(file.descriptor.rawValue, byteCount)
    else {
      return nil
    }
    unsafe self.start = start
    self.byteCount = byteCount
  }

  deinit { unsafe zt_unmap(start) }

  /// Whether zeros have replaced bytes that could not be read. Never reset.
  package var hasGap: Bool { unsafe zt_map_has_gap(start) }

  /// The bytes of `range` as read-only pixels, without a copy.
  ///
  /// - Parameter owner: Retained as long as the pixels; it retains this mapping, and keeps others
  ///   from replacing the bytes.
  /// - Precondition: The range lies in the mapping and starts at a multiple of 64.
  package func lend(_ range: Range<Int>, by owner: any AnyObject & Sendable) -> PixelStorage {
    unsafe PixelStorage(lent: buffer(range), by: owner)
  }

  /// Calls `body` with the bytes of `range`.
  package func withBytes<Result>(
    in range: Range<Int>, _ body: (borrowing RawSpan) -> Result
  ) -> Result { body(unsafe buffer(range).bytes) }

  /// Asks for the bytes of `range` from the disk, all at once. Does not wait.
  package func willNeed(_ range: Range<Int>) {
    let bytes = unsafe buffer(range)
    if let start = bytes.baseAddress { unsafe zt_will_need(start, bytes.count) }
  }

  /// Keeps the system from reading more than it is asked for in `range`, which starts with a page.
  package func willScatter(_ range: Range<Int>) {
    let bytes = unsafe buffer(range)
    if let start = bytes.baseAddress { unsafe zt_will_scatter(start, bytes.count) }
  }

  /// Reads one byte of each page of `range`, so that they are in memory.
  package func touch(_ range: Range<Int>) {
    let bytes = unsafe buffer(range)
    if let start = bytes.baseAddress { unsafe zt_touch(start, bytes.count) }
  }

  /// The 64-bit word at `offset`, a multiple of 8.
  package func word(at offset: Int) -> UInt64 {
    unsafe buffer(offset..<offset + 8).load(as: UInt64.self)
  }

  private func buffer(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount)
    return unsafe UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
  }
}
