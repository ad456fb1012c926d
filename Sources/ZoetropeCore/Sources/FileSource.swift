internal import Glibc
package import SystemPackage
internal import ZoetropeShims

/// A byte source over an open file, read with `pread`.
///
/// Not mapped: a file that shrinks under a mapping takes the process down with SIGBUS, and reading a
/// frame's bytes costs a hundredth of decoding them. A file that shrinks gives fewer bytes instead.
/// Only the scan of a large file may go through a mapping, and only where the process lets it: a
/// library must not set a handler for SIGBUS that nobody asked for.
package final class FileSource: ByteSource {
  private let descriptor: FileDescriptor
  package let byteCount: Int
  private let stamp: FileStamp
  private let maps: Bool
  /// What errors call the file; nil when whoever reports them says so.
  private let name: String?

  /// Opens the regular file at `path`.
  ///
  /// - Parameter maps: Whether ``mapping()`` may map it. Default: false.
  package convenience init(path: FilePath, maps: Bool = false) throws(AnimatedImageError) {
    let descriptor = try Self.open(path)
    do {
      try self.init(descriptor, Self.status(of: descriptor), maps: maps, name: nil)
    } catch {
      try? descriptor.close()
      throw error
    }
  }

  private init(
    _ descriptor: FileDescriptor, _ status: stat, maps: Bool, name: String?
  ) {
    self.descriptor = descriptor
    self.maps = maps
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
        return FileSource(descriptor, status, maps: false, name: name)
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

  /// The file in memory, when it may be mapped and is large enough that this pays.
  package func mapping() -> FileMapping? {
    guard maps, byteCount >= BlockReader.leastSharedSize else { return nil }
    return FileMapping(descriptor, byteCount: byteCount)
  }

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
    let clipped = range.clamped(to: 0..<byteCount)
    return zt_is_cached(descriptor.rawValue, Int64(clipped.lowerBound), clipped.count)
  }

  package func withBytes<Result>(
    in range: Range<Int>, scratch: inout [UInt8],
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    let clipped = range.clamped(to: 0..<byteCount)
    try scratch.makeRoom(for: clipped.count, taking: max(clipped.count, 4096))
    let count = try read(clipped, into: &scratch)
    return try unsafe body(scratch.span.bytes.extracting(first: count))
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
