internal import Glibc
package import SystemPackage
internal import ZoetropeShims

// Files and pipes.
//
// Unsafe: `fstat`, `stat`, `poll` and `read` fill in memory of the caller: local variables and arrays of
// which they are told the size, and which outlive the call.

/// A byte source over an open file, read with `pread`.
///
/// Not mapped: a file that shrinks under a mapping kills the process with SIGBUS, and reading a frame's
/// bytes costs a hundredth of decoding them. A file that shrinks gives fewer bytes instead.
package final class FileSource: ByteSource {
  private let descriptor: FileDescriptor
  package let byteCount: Int
  private let stamp: FileStamp
  /// What errors call the file; nil when whoever reports them says so.
  private let name: String?

  /// Opens the regular file at `path`.
  package convenience init(path: FilePath) throws(AnimatedImageError) {
    let descriptor = try Self.open(path)
    do {
      try self.init(descriptor, Self.status(of: descriptor), name: nil)
    } catch {
      try? descriptor.close()
      throw error
    }
  }

  private init(_ descriptor: FileDescriptor, _ status: stat, name: String?) {
    self.descriptor = descriptor
    self.name = name
    byteCount = Int(status.st_size)
    stamp = FileStamp(status)
  }

  /// The bytes at `path`: a regular file stays open and is read by range; a pipe, a device or a
  /// terminal is read to its end now.
  ///
  /// - Parameter byteLimit: Bytes that are read of what is no regular file.
  /// - Throws: `io` that names the path; of what is no regular file also `notAnImage`, `limitExceeded`
  ///   and, when the task is cancelled, `cancelled`.
  package static func bytes(
    at path: FilePath, byteLimit: Int,
    checkingStart: (borrowing RawSpan) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) -> any ByteSource {
    // Quoted, which shows control characters as escapes.
    let name = path.string.debugDescription
    do throws(AnimatedImageError) {
      let descriptor = try open(path)
      var staysOpen = false
      defer { if !staysOpen { try? descriptor.close() } }
      let status = try anyStatus(of: descriptor)
      if status.st_mode & S_IFMT == S_IFREG {
        staysOpen = true
        return FileSource(descriptor, status, name: name)
      }
      return MemorySource(
        try StandardInput.readAll(
          from: descriptor, byteLimit: byteLimit, shouldStop: { Task.isCancelled },
          checkingStart: checkingStart))
    } catch {
      guard error.code == .io else { throw error }
      throw AnimatedImageError(.io, "\(name): \(error.detail)")
    }
  }

  private static func open(_ path: FilePath) throws(AnimatedImageError) -> FileDescriptor {
    do {
      // Without waiting, or a pipe that nobody writes to would hold the caller up here.
      return try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    } catch {
      throw failure(error)
    }
  }

  deinit { try? descriptor.close() }

  package var currentStamp: FileStamp? { try? FileStamp(of: descriptor) }

  package var isUnchanged: Bool { currentStamp?.hasBytes(of: stamp) ?? false }

  /// The stamp of a regular file; others are refused, as by ``status(of:)``.
  package static func stamp(
    of descriptor: FileDescriptor
  ) throws(AnimatedImageError) -> FileStamp { FileStamp(try status(of: descriptor)) }

  /// What the system says of a regular file; pipes and devices are refused: they have no ranges, and
  /// may have no end.
  static func status(of descriptor: FileDescriptor) throws(AnimatedImageError) -> stat {
    let status = try anyStatus(of: descriptor)
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw AnimatedImageError(
        .io, status.st_mode & S_IFMT == S_IFDIR ? "is a directory" : "not a regular file")
    }
    return status
  }

  private static func anyStatus(
    of descriptor: FileDescriptor
  ) throws(AnimatedImageError) -> stat {
    var status = stat()
    guard unsafe fstat(descriptor.rawValue, &status) == 0 else {
      throw failure(Errno(rawValue: errno))
    }
    return status
  }

  package func isAtHand(_ range: Range<Int>) -> Bool {
    let needed = Self.extended(range.clamped(to: 0..<byteCount), in: byteCount)
    return zt_is_cached(descriptor.rawValue, Int64(needed.lowerBound), needed.count)
  }

  package func withBytes<Result>(
    in range: Range<Int>, buffer: inout ReadBuffer,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    let clipped = range.clamped(to: 0..<byteCount)
    if clipped.lowerBound < buffer.range.lowerBound || clipped.upperBound > buffer.range.upperBound
    {
      let wanted = Self.extended(clipped, in: byteCount)
      buffer.range = 0..<0
      try buffer.bytes.makeRoom(for: wanted.count, taking: max(wanted.count, 4096))
      let count = try read(wanted, into: &buffer.bytes)
      buffer.range = wanted.prefix(count)
    }
    let held = clipped.clamped(to: buffer.range)
    let start = held.lowerBound - buffer.range.lowerBound
    // The buffer holds at least the bytes of its range.
    return try unsafe body(buffer.bytes.span.bytes.extracting(start..<start + held.count))
  }

  /// What is read for `range`: a small one with what follows, since small frames lie close together and
  /// a call costs as much as copying some 8 KiB.
  private static func extended(_ range: Range<Int>, in byteCount: Int) -> Range<Int> {
    range.lowerBound..<min(max(range.upperBound, range.lowerBound + 1 << 14), byteCount)
  }

  /// Reads as much of `range` as there is; says how many bytes that was.
  private func read(
    _ range: Range<Int>, into buffer: inout [UInt8]
  ) throws(AnimatedImageError) -> Int {
    var done = 0
    while done < range.count {
      do {
        // The closure's buffer is not kept; `done` stays within the range, the range in the buffer.
        let count = try unsafe buffer.withUnsafeMutableBytes { bytes in
          unsafe try descriptor.read(
            fromAbsoluteOffset: Int64(range.lowerBound + done),
            into: UnsafeMutableRawBufferPointer(rebasing: bytes[done..<range.count]))
        }
        if count == 0 { break }
        done += count
      } catch {
        throw Self.failure(error, name)
      }
    }
    return done
  }

  static func failure(_ error: any Error, _ name: String? = nil) -> AnimatedImageError {
    let detail = (error as? Errno).map { "\($0)" } ?? "\(error)"
    return AnimatedImageError(.io, name.map { "\($0): \(detail)" } ?? detail)
  }
}

/// Reads a pipe, a terminal or a file to its end.
package enum StandardInput {
  /// Bytes after which every format is known.
  private static let signatureSize = 13

  /// All bytes of `descriptor`.
  ///
  /// While nothing comes, `shouldStop` is asked ten times a second: a signal that arrives just
  /// before a blocking read would otherwise be slept over.
  ///
  /// - Parameter checkingStart: Gets the first 13 bytes, after which every format is known; what it
  ///   throws ends the reading.
  /// - Throws: `io` when reading fails, `limitExceeded` past `byteLimit` bytes or when the system has
  ///   no memory for them, `cancelled` when `shouldStop` says so.
  package static func readAll(
    from descriptor: FileDescriptor, byteLimit: Int, shouldStop: () -> Bool,
    checkingStart: (borrowing RawSpan) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if shouldStop() { throw AnimatedImageError(.cancelled, "reading was stopped") }
      var request = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
      // Files and ends of pipes are always ready. A signal ends the wait with an error.
      let ready = unsafe poll(&request, 1, 100)
      if ready < 0, errno != EINTR { throw FileSource.failure(Errno(rawValue: errno)) }
      guard ready > 0 else { continue }
      let count: Int
      do {
        count = try unsafe block.withUnsafeMutableBytes { unsafe try descriptor.read(into: $0) }
      } catch Errno.resourceTemporarilyUnavailable {
        // Another reader of a pipe that does not block was faster.
        continue
      } catch {
        throw FileSource.failure(error)
      }
      if count == 0 { return bytes }
      let hadSignature = bytes.count >= signatureSize
      // An array grows to twice its size while the old one still lives.
      if bytes.count + count > bytes.capacity { try PixelMemory.require(2 * bytes.capacity) }
      bytes.append(contentsOf: block[..<count])
      if !hadSignature, bytes.count >= signatureSize {
        // No more than there are, as the condition says.
        try checkingStart(bytes.rawBytes.extracting(first: signatureSize))
      }
      guard bytes.count <= byteLimit else {
        throw AnimatedImageError(
          .limitExceeded, "the input is too long, the limit is \(byteLimit) bytes",
          byteOffset: byteLimit)
      }
    }
  }
}

/// What the file system says of a file that changes when its bytes do.
///
/// The change time is part of it because the modification time can be set back by anyone.
package struct FileStamp: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64
  package let byteCount: Int
  /// Nanoseconds since 1970.
  package let modified: Int64
  /// Nanoseconds since 1970; the system sets it at each change of bytes or attributes.
  package let changed: Int64

  package init(device: UInt64, inode: UInt64, byteCount: Int, modified: Int64, changed: Int64) {
    self.device = device
    self.inode = inode
    self.byteCount = byteCount
    self.modified = modified
    self.changed = changed
  }

  /// The stamp of the open file `file`.
  package init(of file: FileDescriptor) throws(AnimatedImageError) {
    var status = stat()
    guard unsafe fstat(file.rawValue, &status) == 0 else {
      throw AnimatedImageError(.io, "cannot stat: \(Errno(rawValue: errno))")
    }
    self.init(status)
  }

  /// The stamp of the file at `path`; nil when there is none.
  package init?(at path: FilePath) {
    var status = stat()
    guard unsafe path.withPlatformString({ unsafe stat($0, &status) }) == 0 else { return nil }
    self.init(status)
  }

  /// The stamp in what the system says of a file.
  init(_ status: stat) {
    self.init(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
      byteCount: Int(status.st_size), modified: Self.nanoseconds(status.st_mtim),
      changed: Self.nanoseconds(status.st_ctim))
  }

  /// Whether the file was left alone long enough before `now` that a later write shows in the stamp.
  ///
  /// Two writes within one tick of the file system's clock leave the same times, so a hash taken in
  /// that tick may be of the bytes in between. 2 s is FAT's tick, the coarsest in use.
  package func isSettled(at now: Int64) -> Bool {
    now - max(modified, changed) > 2_000_000_000
  }

  /// Whether nothing was written between the two stamps of one open file. The change time is left out:
  /// removing or renaming a file changes it too, and an open file outlives both.
  func hasBytes(of other: FileStamp) -> Bool {
    device == other.device && inode == other.inode && byteCount == other.byteCount
      && modified == other.modified
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// The system's wall clock, nanoseconds since 1970.
  package static func now() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return nanoseconds(time)
  }
}
