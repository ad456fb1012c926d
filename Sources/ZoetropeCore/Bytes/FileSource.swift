internal import Glibc
package import SystemPackage
internal import ZoetropeShims

/// A byte source over an open file, read with `pread`.
///
/// The file is not mapped: if it shrank under a mapping, SIGBUS would kill the process, whereas
/// `pread` returns fewer bytes. Reading a frame's bytes costs a hundredth of decoding them.
package final class FileSource: ByteSource {
  private let descriptor: FileDescriptor
  package let byteCount: Int
  private let stamp: FileStamp
  /// The file's path, for errors, or nil if the caller adds it.
  private let path: FilePath?

  /// Opens the regular file at `path`.
  package convenience init(path: FilePath) throws(AnimatedImageError) {
    let descriptor = try Self.open(path)
    do {
      try self.init(descriptor, Self.status(of: descriptor), path: nil)
    } catch {
      try? descriptor.close()
      throw error
    }
  }

  /// Creates a source that reads the regular file behind `original` through a duplicate descriptor.
  ///
  /// - Throws: `io` if `original` refers to anything but a regular file.
  package convenience init(duplicating original: FileDescriptor) throws(AnimatedImageError) {
    let status = try Self.status(of: original)
    do {
      let copy = try IdleFiles.shared.open {
        // Unlike `dup`, sets close-on-exec.
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

  /// Returns the bytes at `path`. A regular file stays open and is read by range; a pipe, device or
  /// terminal is read to its end now.
  ///
  /// - Parameters:
  ///   - byteLimit: The maximum number of bytes to read from anything but a regular file.
  ///   - isCancelled: Polled ten times a second while a pipe has no data.
  /// - Throws: `io` with the path; for anything but a regular file also `notAnImage`,
  ///   `limitExceeded`, `outOfMemory` and, once `isCancelled` returns true, `cancelled`.
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
        .io, "\(name(of: path)): \(error.detail)", systemError: error.systemError)
    }
  }

  /// Returns whether reading the file at `path` may block indefinitely, as for a pipe.
  package static func mayWaitForEver(at path: FilePath) -> Bool {
    FileStatus(at: path)?.isRegular == false
  }

  /// Returns `path` as shown in errors, in quotes, which escape control characters.
  private static func name(of path: FilePath) -> String { path.string.debugDescription }

  private static func open(_ path: FilePath) throws(AnimatedImageError) -> FileDescriptor {
    do {
      // Non-blocking: otherwise opening a pipe without a writer would block here.
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

  /// Returns the stamp of a regular file. Throws for other files, like ``status(of:)``.
  package static func stamp(
    of descriptor: FileDescriptor
  ) throws(AnimatedImageError) -> FileStamp { FileStamp(try status(of: descriptor)) }

  /// Returns the status of a regular file. Throws for pipes and devices, which cannot be read by
  /// range and may have no end.
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
    return try body(buffer.bytes.rawBytes.extracting(start..<start + held.count))
  }

  /// Returns the range to read for `range`. Extends a small range, because small frames are close together and a call
  /// costs as much as copying about 8 KiB.
  private static func extended(_ range: Range<Int>, in byteCount: Int) -> Range<Int> {
    range.lowerBound..<min(max(range.upperBound, range.lowerBound + 1 << 14), byteCount)
  }

  /// Reads the available bytes of `range` and returns their number.
  private func read(
    _ range: Range<Int>, into buffer: inout [UInt8]
  ) throws(AnimatedImageError) -> Int {
    var done = 0
    while done < range.count {
      do {
        let count = try descriptor.read(
          at: range.lowerBound + done, into: &buffer, done..<range.count)
        if count == 0 { break }
        done += count
      } catch {
        throw Self.failure(error, path.map { Self.name(of: $0) })
      }
    }
    return done
  }

  static func failure(_ error: any Error, _ name: String? = nil) -> AnimatedImageError {
    let number = error as? Errno
    let detail = number.map { "\($0)" } ?? "\(error)"
    return AnimatedImageError(
      .io, name.map { "\($0): \(detail)" } ?? detail, systemError: number)
  }
}

/// Reads a pipe, a terminal or a file to its end.
package enum StandardInput {
  /// The number of bytes needed to recognise every format.
  private static let signatureSize = 13

  /// Reads all bytes of `descriptor`.
  ///
  /// While no data arrives, polls `shouldStop` ten times a second. A blocking read would miss a
  /// signal that arrives just before it.
  ///
  /// - Parameter checkingStart: Called with the first 13 bytes, which identify every format. If it
  ///   throws, reading ends with its error.
  /// - Throws: `io` when reading fails, `limitExceeded` past `byteLimit` bytes, `outOfMemory` if
  ///   allocation fails, `cancelled` when `shouldStop` returns true.
  package static func readAll(
    from descriptor: FileDescriptor, byteLimit: Int, shouldStop: () -> Bool,
    checkingStart: (borrowing RawSpan) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if shouldStop() { throw AnimatedImageError(.cancelled, "reading was stopped") }
      var request = [pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)]
      // Files and closed pipes are always ready. A signal makes the wait fail.
      let ready = waitForEvents(&request, milliseconds: 100)
      if ready < 0, errno != EINTR { throw FileSource.failure(Errno(rawValue: errno)) }
      guard ready > 0 else { continue }
      let count: Int
      do {
        count = try descriptor.read(into: &block)
      } catch Errno.resourceTemporarilyUnavailable {
        // Another reader of a non-blocking pipe took the data.
        continue
      } catch {
        throw FileSource.failure(error)
      }
      if count == 0 { return bytes }
      let hadSignature = bytes.count >= signatureSize
      // A growing array doubles its capacity while the old one still lives.
      if bytes.count + count > bytes.capacity { try PixelMemory.require(2 * bytes.capacity) }
      bytes.append(contentsOf: block[..<count])
      if !hadSignature, bytes.count >= signatureSize {
        // In bounds by the condition above.
        try checkingStart(bytes.rawBytes.extracting(first: signatureSize))
      }
      guard bytes.count <= byteLimit else {
        throw .exceeding(
          .inputBytes, asked: bytes.count, allowed: byteLimit,
          "the input is too long, the limit is \(byteLimit) bytes", byteOffset: byteLimit)
      }
    }
  }
}
