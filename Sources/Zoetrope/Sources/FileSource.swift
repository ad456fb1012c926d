internal import Glibc
package import SystemPackage

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

  /// Opens the regular file at `path`.
  ///
  /// - Parameter maps: Whether ``mapping()`` may map it. Default: false.
  package init(path: FilePath, maps: Bool = false) throws(AnimatedImageError) {
    self.maps = maps
    do {
      descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    } catch {
      throw Self.failure(error)
    }
    do {
      let status = try Self.status(of: descriptor)
      byteCount = Int(status.st_size)
      stamp = FileStamp(status)
    } catch {
      try? descriptor.close()
      throw error
    }
  }

  deinit { try? descriptor.close() }

  package var currentStamp: FileStamp? { try? FileStamp(of: descriptor) }

  package var isUnchanged: Bool { currentStamp?.hasBytes(of: stamp) ?? false }

  /// The file in memory, when it may be mapped and is large enough that this pays.
  func mapping() -> FileMapping? {
    guard maps, byteCount >= BlockReader.leastSharedSize else { return nil }
    return FileMapping(descriptor, byteCount: byteCount)
  }

  /// What the system says of a regular file; pipes and devices are refused: they have no ranges, and
  /// may have no end.
  static func status(of descriptor: FileDescriptor) throws(AnimatedImageError) -> stat {
    var status = stat()
    guard unsafe fstat(descriptor.rawValue, &status) == 0 else {
      throw failure(Errno(rawValue: errno))
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw AnimatedImageError(.io, "not a regular file")
    }
    return status
  }

  package func withBytes<Result>(
    in range: Range<Int>, scratch: inout [UInt8],
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    let clipped = range.clamped(to: 0..<byteCount)
    if scratch.count < clipped.count {
      try PixelMemory.require(clipped.count)
      scratch = [UInt8](repeating: 0, count: max(clipped.count, 4096))
    }
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
        throw Self.failure(error)
      }
    }
    return done
  }

  static func failure(_ error: any Error) -> AnimatedImageError {
    AnimatedImageError(.io, (error as? Errno).map { "\($0)" } ?? "\(error)")
  }
}
