internal import Glibc
package import SystemPackage
internal import ZoetropeShims

/// A byte source that reads an open file with `pread`.
///
/// The file is not mapped into memory: if a mapped file shrank, SIGBUS would kill the process, whereas `pread` then
/// returns fewer bytes. Reading the bytes of a frame takes a hundredth of the time that decoding them takes.
package final class FileSource: ByteSource {
  private let descriptor: FileDescriptor
  package let byteCount: Int
  private let stamp: FileStamp
  /// The file's path, which is added to errors, or nil if the caller adds the path.
  private let path: FilePath?

  /// Creates a source that opens and reads the regular file at `path`.
  package convenience init(path: FilePath) throws(AnimatedImageError) {
    let descriptor = try Self.open(path)
    do {
      try self.init(descriptor, Self.status(of: descriptor), path: nil)
    } catch {
      try? descriptor.close()
      throw error
    }
  }

  /// Creates a source that reads the regular file behind `original` through a duplicate of that descriptor.
  ///
  /// - Throws: `io` if `original` refers to anything but a regular file.
  package convenience init(duplicating original: FileDescriptor) throws(AnimatedImageError) {
    let status = try Self.status(of: original)
    do {
      let copy = try IdleFiles.shared.open {
        // Unlike `dup`, this command sets the close-on-exec flag.
        let copy = fcntl(original.rawValue, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw Errno(rawValue: errno) }
        return FileDescriptor(rawValue: copy)
      }
      self.init(copy, status, path: nil)
    } catch {
      throw Self.failure(error)
    }
  }

  private init(_ descriptor: FileDescriptor, _ status: FileStatus, path: FilePath?) {
    self.descriptor = descriptor
    self.path = path
    byteCount = status.byteCount
    stamp = FileStamp(status)
  }

  /// Returns a source over the bytes at `path`. A regular file stays open and is read by range; a pipe, device or
  /// terminal is read to its end during this call.
  ///
  /// - Parameters:
  ///   - byteLimit: The maximum number of bytes to read from a file that is not regular.
  ///   - isCancelled: Polled ten times a second while a pipe has no data.
  /// - Throws: `io`, with the path in its detail. For a file that is not regular, also `notAnImage`, `limitExceeded`,
  ///   `outOfMemory`, and `cancelled` once `isCancelled` returns true.
  package static func bytes(
    at path: FilePath, byteLimit: Int, isCancelled: () -> Bool,
    checkingStart: (borrowing RawSpan) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) -> any ByteSource {
    do throws(AnimatedImageError) {
      let descriptor = try open(path)
      var staysOpen = false
      defer { if !staysOpen { try? descriptor.close() } }
      let status = try anyStatus(of: descriptor)
      if status.isRegular {
        staysOpen = true
        return FileSource(descriptor, status, path: path)
      }
      return MemorySource(
        try StandardInput.readAll(
          from: descriptor, byteLimit: byteLimit, shouldStop: isCancelled,
          checkingStart: checkingStart))
    } catch {
      guard error.code == .io else { throw error }
      throw AnimatedImageError(
        .io, "\(path.quoted): \(error.detail)", systemError: error.systemError)
    }
  }

  /// Returns whether reading the file at `path` may block indefinitely, for example because the file is a pipe.
  package static func mayWaitForEver(at path: FilePath) -> Bool {
    FileStatus(at: path)?.isRegular == false
  }

  /// Opens the file at `path` for reading.
  package static func open(_ path: FilePath) throws(AnimatedImageError) -> FileDescriptor {
    do {
      // Use non-blocking mode: otherwise, opening a pipe without a writer would block here.
      return try IdleFiles.shared.open {
        try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
      }
    } catch {
      throw failure(error)
    }
  }

  deinit { try? descriptor.close() }

  package var residentByteCount: Int { 0 }

  package var currentStamp: FileStamp? { try? FileStamp(of: descriptor) }

  package var isUnchanged: Bool { currentStamp?.hasBytes(of: stamp) ?? false }

  /// Returns the stamp of a regular file. Like ``status(of:)``, throws `io` for other files.
  package static func stamp(
    of descriptor: FileDescriptor
  ) throws(AnimatedImageError) -> FileStamp { FileStamp(try status(of: descriptor)) }

  /// Returns the status of a regular file. Throws `io` for other files: pipes and devices cannot be read by range and
  /// may have no end.
  static func status(of descriptor: FileDescriptor) throws(AnimatedImageError) -> FileStatus {
    let status = try anyStatus(of: descriptor)
    guard status.isRegular else {
      throw AnimatedImageError(.io, status.isDirectory ? "is a directory" : "not a regular file")
    }
    return status
  }

  private static func anyStatus(
    of descriptor: FileDescriptor
  ) throws(AnimatedImageError) -> FileStatus {
    do { return try FileStatus(of: descriptor) } catch { throw failure(error) }
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
    return try buffer.withBytes(
      of: clipped, extended: Self.extended(clipped, in: byteCount), read: self.read(_:into:), body)
  }

  /// Returns the range to read when the bytes of `range` are needed. A small range is extended to 16 KiB, because small
  /// frames lie close together and a system call costs as much as copying about 8 KiB.
  private static func extended(_ range: Range<Int>, in byteCount: Int) -> Range<Int> {
    range.lowerBound..<min(max(range.upperBound, range.lowerBound + 1 << 14), byteCount)
  }

  /// Reads the bytes of `range` that exist in the file into the start of `buffer`, and returns their number.
  private func read(
    _ range: Range<Int>, into buffer: inout [UInt8]
  ) throws(AnimatedImageError) -> Int {
    do {
      return try descriptor.readAll(at: range.lowerBound, into: &buffer, 0..<range.count)
    } catch {
      throw Self.failure(error, path?.quoted)
    }
  }

  static func failure(_ error: any Error, _ name: String? = nil) -> AnimatedImageError {
    let number = error as? Errno
    let detail = number.map { "\($0)" } ?? "\(error)"
    return AnimatedImageError(
      .io, name.map { "\($0): \(detail)" } ?? detail, systemError: number)
  }
}
