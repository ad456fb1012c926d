internal import Glibc
internal import Synchronization
package import SystemPackage
internal import ZoetropeShims

extension AnimatedImageError {
  /// Returns the error for a failed system call on a file of a frame store.
  static func store(_ number: Errno, _ action: String) -> AnimatedImageError {
    let code: Code =
      switch number.rawValue {
      case ENOSPC, EDQUOT, EFBIG: .storeFull
      case EROFS, EACCES, EPERM, ELOOP: .storeDenied
      case ENOLCK, ENOTSUP, EINVAL, ENOSYS, ENODEV: .storeUnsupported
      case ENOENT, ESTALE: .storeDamaged
      default: .io
      }
    return AnimatedImageError(code, "cannot \(action): \(number)", systemError: number)
  }
}

/// A file that several processes read and write concurrently.
///
/// Files are written with `pwrite`, so that a full disk causes an error instead of SIGBUS. Locks belong to the open
/// file description (`F_OFD_SETLK`): they end with the process and, unlike POSIX locks, are kept when another
/// descriptor of the file is closed. The locks of two objects for the same file exclude each other; two threads that
/// use the same object do not exclude each other.
package final class TableFile: Sendable {
  /// The kinds of lock, with the numbers that `zt_lock_byte` takes.
  package enum Lock: Int32 { case none, shared, exclusive }

  /// The number of bytes in a memory page.
  package static var pageSize: Int { sysconf(Int32(_SC_PAGESIZE)) }

  fileprivate let descriptor: FileDescriptor
  /// Whether the file is open for reading only, because the caller asked for it or this user may not write to it.
  package let isReadOnly: Bool
  /// Whether punching a hole in this file frees disk space: 1 if it does, 2 if it does not, and 0 until the first hole
  /// is punched.
  private let punching = Atomic(0)

  /// Opens a file for reading and writing, or for reading only if this user may not write to it.
  ///
  /// Throws `storeDenied` if other users have access to a file that is opened for writing, or if anybody but this user
  /// and root may write to a file that is opened for reading only. Does not follow symbolic links.
  ///
  /// - Parameter readOnly: Whether to open the file for reading only even if this user may write to it. Default: false.
  /// - Returns: The open file, or nil if there is no such file.
  package static func open(
    _ path: FilePath, creating: Bool = false, readOnly: Bool = false
  ) throws(AnimatedImageError) -> TableFile? {
    try open(path, creating: creating, readOnly ? .readOnly : .readWrite)
  }

  private static func open(
    _ path: FilePath, creating: Bool, _ mode: FileDescriptor.AccessMode
  ) throws(AnimatedImageError) -> TableFile? {
    let writes = mode == .readWrite
    var options: FileDescriptor.OpenOptions = [.closeOnExec, .noFollow, .nonBlocking]
    if creating { options.formUnion([.create, .exclusiveCreate]) }
    let file: TableFile
    do throws(AnimatedImageError) {
      let descriptor = try TableCall.open.make("open \(path.quoted)") {
        // Make this check outside `IdleFiles.open`, which would react to an injected EMFILE by closing every idle file
        // of the process.
        try TableCall.open.check()
        if writes { try TableCall.openWriting.check() }
        return try IdleFiles.shared.open {
          try FileDescriptor.open(
            path, mode, options: options, permissions: creating ? [.ownerReadWrite] : nil)
        }
      }
      file = TableFile(descriptor, isReadOnly: !writes)
    } catch {
      guard !creating, let number = error.systemError else { throw error }
      if number == .noSuchFileOrDirectory { return nil }
      guard writes, [.readOnlyFileSystem, .permissionDenied, .notPermitted].contains(number)
      else { throw error }
      return try open(path, creating: false, .readOnly)
    }
    let status = try file.status
    guard status.isRegular, writes ? status.isPrivate : status.isTrusted else {
      throw AnimatedImageError(
        .storeDenied,
        "\(path.quoted) is not a file that only \(writes ? "the current user can access" : "its owner can write")"
      )
    }
    return file
  }

  private init(_ descriptor: FileDescriptor, isReadOnly: Bool) {
    self.descriptor = descriptor
    self.isReadOnly = isReadOnly
  }

  deinit { try? descriptor.close() }

  package var status: FileStatus {
    get throws(AnimatedImageError) {
      try TableCall.stat.make("read the status of a file") {
        try TableCall.stat.check()
        return try FileStatus(of: descriptor)
      }
    }
  }

  /// Reads and returns up to `count` bytes, starting at `offset`. Fewer bytes are returned only at the end of the file.
  package func read(_ count: Int, at offset: Int) throws(AnimatedImageError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let step = try TableCall.read.make("read a file") {
        let wanted = try TableCall.read.granted(count - done)
        return try descriptor.read(at: offset + done, into: &bytes, done..<done + wanted)
      }
      if step == 0 { break }
      done += step
    }
    bytes.removeLast(count - done)
    return bytes
  }

  /// Writes all of `bytes` at `offset`.
  package func write(_ bytes: borrowing RawSpan, at offset: Int) throws(AnimatedImageError) {
    try Self.checkSizeLimit(offset + bytes.byteCount)
    var done = 0
    while done < bytes.byteCount {
      let rest = bytes.extracting(droppingFirst: done)
      let step: Int
      do throws(Errno) {
        let wanted = try TableCall.write.granted(rest.byteCount)
        step = try descriptor.writeSome(rest.extracting(first: wanted), at: offset + done)
      } catch {
        if error == .interrupted { continue }
        throw .store(error, "write a file")
      }
      // Nothing was written and there was no error. This is unexpected, but must not cause an endless loop.
      if step == 0 { throw .store(.ioError, "write a file") }
      done += step
    }
  }

  /// Makes the file `byteCount` bytes long and allocates disk space for the first `allocated` bytes. Call this method
  /// only for a file that is not open elsewhere.
  package func resize(to byteCount: Int, allocating allocated: Int) throws(AnimatedImageError) {
    try Self.checkSizeLimit(byteCount)
    try TableCall.resize.make("change the size of a file") {
      try TableCall.resize.check()
      try descriptor.resize(to: Int64(byteCount), retryOnInterrupt: false)
    }
    try TableCall.allocate.make("allocate disk space") {
      try TableCall.allocate.check()
      let error = posix_fallocate(descriptor.rawValue, 0, off_t(allocated))
      if error != 0 { throw Errno(rawValue: error) }
    }
  }

  /// Throws `storeFull` if this process may not write files of `byteCount` bytes. Without this check, the system would
  /// end the process with SIGXFSZ.
  private static func checkSizeLimit(_ byteCount: Int) throws(AnimatedImageError) {
    if byteCount > FileSystem.fileSizeLimit {
      throw .store(.fileTooLarge, "write a file of \(byteCount) bytes")
    }
  }

  /// The result of punching a hole.
  package enum Hole {
    /// The disk space is free, and the range reads as zeros.
    case freed
    /// The range may read as zeros, but still takes disk space.
    case kept
    /// Nothing was done: the file system does not support holes.
    case none
  }

  /// Frees the disk space of `range`, unless an earlier attempt on this file has shown that no space is freed.
  ///
  /// If the blocks of the file system are larger than the range (ZFS, XFS with blocks of 64 KiB), the system writes
  /// zeros, reports success and frees nothing. The first call therefore checks whether the range now contains a hole.
  /// The number of allocated bytes would not show whether space was freed: other processes write to the file, and ZFS
  /// updates the number only seconds later.
  ///
  /// - Throws: The system's error, unless the file system cannot free parts of files. Some of the range may be free.
  package func punchHole(_ range: Range<Int>) throws(AnimatedImageError) -> Hole {
    if punching.load(ordering: .relaxed) == 2 { return .none }
    let start = Int64(range.lowerBound)
    let granted: Int
    do throws(AnimatedImageError) {
      granted = try TableCall.punch.make("free a part of a file") {
        let granted = try TableCall.punch.granted(2)
        let error = zt_punch_hole(descriptor.rawValue, start, Int64(range.count))
        if error != 0 { throw Errno(rawValue: error) }
        return granted
      }
    } catch {
      guard let cause = error.systemError, [.notSupportedOnSocket, .noFunction].contains(cause)
      else { throw error }
      return .none
    }
    if punching.load(ordering: .relaxed) == 0 {
      let hole = zt_find_hole(descriptor.rawValue, start)
      let isFreed = granted == 2 && (0..<Int64(range.upperBound)).contains(hole)
      punching.store(isFreed ? 1 : 2, ordering: .relaxed)
      if !isFreed { return .kept }
    }
    return .freed
  }

  /// Changes this object's lock on the byte at `offset`, without waiting.
  ///
  /// - Returns: False if another object holds a conflicting lock.
  package func setLock(_ lock: Lock, at offset: Int) throws(AnimatedImageError) -> Bool {
    try TableCall.lock.make("lock a file") {
      try TableCall.lock.check()
      let error = zt_lock_byte(descriptor.rawValue, Int64(offset), lock.rawValue)
      guard error == 0 || error == EAGAIN else { throw Errno(rawValue: error) }
      return error == 0
    }
  }
}

/// The bytes of a table, read directly from the system's file cache.
///
/// If the file is truncated or cannot be read, the missing bytes read as zeros and ``hasGap`` becomes true; see
/// `zt_table.h`. Other processes may write to the file at any moment, so callers must either validate the bytes that
/// they read or hold a lock.
///
/// Unsafe code: every range is checked against the mapping, which lives from `init` to `deinit`.
@safe
package final class TableMapping: Sendable {
  // The pointer never changes, the bytes are only read, and the mapping is removed in `deinit`, when no reference to
  // this object is left.
  private nonisolated(unsafe) let start: UnsafePointer<UInt8>
  private let byteCount: Int

  /// Maps the first `byteCount` bytes of `file`, or returns nil if the system cannot map them.
  package init?(_ file: TableFile, byteCount: Int) {
    guard byteCount > 0, (try? TableCall.map.check()) != nil,
      let start = unsafe zt_map(file.descriptor.rawValue, byteCount)
    else {
      return nil
    }
    unsafe self.start = start
    self.byteCount = byteCount
  }

  deinit { unsafe zt_unmap(start) }

  /// Whether bytes that could not be read have been replaced by zeros. Once true, this value stays true.
  package var hasGap: Bool { unsafe zt_map_has_gap(start) }

  /// Returns the bytes of `range` as read-only pixels, without a copy.
  ///
  /// - Parameter owner: An object that retains this mapping and keeps every process from replacing the bytes. The owner
  ///   is retained as long as the pixels.
  /// - Precondition: The range lies in the mapping and starts at a multiple of 64.
  package func lend(_ range: Range<Int>, by owner: any AnyObject & Sendable) -> PixelStorage {
    unsafe PixelStorage(lent: buffer(range), by: owner)
  }

  /// Calls `body` with the bytes of `range`.
  package func withBytes<Result>(
    in range: Range<Int>, _ body: (borrowing RawSpan) -> Result
  ) -> Result { body(unsafe buffer(range).bytes) }

  /// Asks the system to read all bytes of `range` from the disk, without waiting for them.
  package func willNeed(_ range: Range<Int>) {
    let bytes = unsafe buffer(range)
    if let start = bytes.baseAddress { unsafe zt_will_need(start, bytes.count) }
  }

  /// Tells the system not to read ahead in `range`, which must start at a page boundary.
  package func willScatter(_ range: Range<Int>) {
    let bytes = unsafe buffer(range)
    if let start = bytes.baseAddress { unsafe zt_will_scatter(start, bytes.count) }
  }

  /// Reads one byte of each page of `range`, which brings the pages into memory.
  package func touch(_ range: Range<Int>) {
    let bytes = unsafe buffer(range)
    if let start = bytes.baseAddress { unsafe zt_touch(start, bytes.count) }
  }

  /// Returns the 64-bit word at `offset`, which must be a multiple of 8.
  package func word(at offset: Int) -> UInt64 {
    unsafe buffer(offset..<offset + 8).load(as: UInt64.self)
  }

  private func buffer(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount)
    return unsafe UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
  }
}
