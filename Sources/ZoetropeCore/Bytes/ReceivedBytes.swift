internal import Glibc
internal import Synchronization
package import SystemPackage

/// The bytes received so far from a stream. The first bytes are kept in memory and the rest in a file.
///
/// The file is temporary and unnamed, so nothing is left behind however the process ends. (On the few file systems that
/// do not support unnamed files, the file briefly has a name.) Only one task may append bytes; any thread may read the
/// bytes that have been appended.
package final class ReceivedBytes: Sendable {
  private struct State {
    /// The bytes in memory. Each block has ``blockSize`` bytes, except the last block.
    var blocks: [[UInt8]] = []
    var byteCount = 0
    var file: SpillFile?
    var memoryLimit: Int
  }

  private static let blockSize = 1 << 18

  /// The maximum number of bytes kept in memory: a multiple of the block size until ``spillFromNow()`` lowers the
  /// limit.
  package var memoryLimit: Int { state.withLock { $0.memoryLimit } }
  private let byteLimit: Int
  private let directory: FilePath
  private let state: Mutex<State>
  /// An object that is kept alive as long as this one.
  private let companion: (any AnyObject & Sendable)?

  /// Creates an object that has not received any bytes yet.
  ///
  /// - Parameters:
  ///   - memoryLimit: The maximum number of bytes kept in memory, rounded up to a multiple of 256 KiB.
  ///   - byteLimit: The maximum number of bytes kept in total.
  ///   - directory: The directory in which to create the temporary file for bytes that are not kept in memory. Default:
  ///     nil, which means the system's directory for temporary files.
  ///   - companion: An object to keep alive as long as the new one.
  package init(
    memoryLimit: Int, byteLimit: Int, directory: FilePath? = nil,
    companion: (any AnyObject & Sendable)? = nil
  ) {
    let limit = min(max(memoryLimit, 0), .max - Self.blockSize)
    let blocks = (limit + Self.blockSize - 1) / Self.blockSize
    state = Mutex(State(memoryLimit: blocks * Self.blockSize))
    self.byteLimit = max(byteLimit, 0)
    self.directory = directory ?? SpillFile.systemDirectory
    self.companion = companion
  }

  /// The number of bytes received so far.
  package var byteCount: Int { state.withLock { $0.byteCount } }

  /// The number of bytes kept in memory.
  package var residentByteCount: Int { state.withLock { min($0.byteCount, $0.memoryLimit) } }

  /// The number of bytes kept in the file.
  package var spilledByteCount: Int { state.withLock { max($0.byteCount - $0.memoryLimit, 0) } }

  /// Returns whether `count` more bytes fit in memory, so that appending them does not wait for a disk.
  package func fitsInMemory(_ count: Int) -> Bool {
    state.withLock { $0.byteCount + count <= $0.memoryLimit }
  }

  /// Makes all bytes that are appended from now on go to the file, for use when memory is short. Must not be called
  /// during an append.
  package func spillFromNow() {
    state.withLock { state in
      // The limit is also the offset in the stream at which the file begins, so it must never grow.
      if state.byteCount < state.memoryLimit { state.memoryLimit = state.byteCount }
    }
  }

  /// Appends the next bytes of the stream. Must not be called concurrently.
  ///
  /// - Throws: `limitExceeded` if the stream becomes longer than the byte limit; `io` if the file cannot be written.
  package func append(_ bytes: ArraySlice<UInt8>) throws(AnimatedImageError) {
    let (start, openFile, memoryLimit) = state.withLock { ($0.byteCount, $0.file, $0.memoryLimit) }
    guard bytes.count <= byteLimit - start else {
      throw .exceeding(
        .inputBytes, found: start + bytes.count, allowed: byteLimit,
        "the stream is too long; the limit is \(byteLimit) bytes", byteOffset: byteLimit)
    }
    let resident = bytes.prefix(max(memoryLimit - start, 0))
    let spilled = bytes.dropFirst(resident.count)
    var file = openFile
    if !spilled.isEmpty {
      let target: SpillFile
      if let file { target = file } else { target = try SpillFile(in: directory) }
      file = target
      // Write outside the lock, so that readers of earlier bytes need not wait for the disk.
      try target.write(spilled, at: start + resident.count - memoryLimit)
    }
    state.withLock { state in
      var rest = resident
      while !rest.isEmpty {
        if state.blocks.last.map({ $0.count == Self.blockSize }) ?? true {
          var block: [UInt8] = []
          // An array that grows by doubling would take up to twice the memory limit.
          block.reserveCapacity(Self.blockSize)
          state.blocks.append(block)
        }
        let last = state.blocks.count - 1
        let part = rest.prefix(Self.blockSize - state.blocks[last].count)
        state.blocks[last].append(contentsOf: part)
        rest = rest.dropFirst(part.count)
      }
      state.file = file
      state.byteCount += bytes.count
    }
  }

  /// Copies the bytes of `range` to the start of `buffer` and returns their number. The bytes must have arrived, and
  /// `buffer` must be large enough.
  fileprivate func read(
    _ range: Range<Int>, into buffer: inout [UInt8]
  ) throws(AnimatedImageError) -> Int {
    let (resident, file) = state.withLock { state in
      let resident = range.clamped(to: 0..<state.memoryLimit)
      var start = resident.lowerBound
      while start < resident.upperBound {
        let offset = start % Self.blockSize
        let count = min(resident.upperBound - start, Self.blockSize - offset)
        let place = start - range.lowerBound
        buffer.replaceSubrange(
          place..<place + count,
          with: state.blocks[start / Self.blockSize][offset..<offset + count])
        start += count
      }
      return (resident, state.file)
    }
    let spilled = range.clamped(to: resident.upperBound ..< .max)
    guard !spilled.isEmpty, let file else { return resident.count }
    let place = spilled.lowerBound - range.lowerBound
    // The bytes in the file begin where the bytes in memory end.
    return place
      + (try file.read(
        at: spilled.lowerBound - resident.upperBound, into: &buffer, place..<place + spilled.count))
  }
}

/// A byte source over received bytes: either all bytes that have arrived so far, or a fixed number of the first bytes.
package struct ReceivedSource: ByteSource {
  private let received: ReceivedBytes
  private let limit: Int?

  /// Creates a source over `received`.
  ///
  /// - Parameter limit: The number of bytes that the source covers. Default: nil, which means all bytes that have
  ///   arrived at the time of a call.
  package init(_ received: ReceivedBytes, limit: Int? = nil) {
    self.received = received
    self.limit = limit
  }

  package var byteCount: Int { limit ?? received.byteCount }

  package var residentByteCount: Int { min(byteCount, received.residentByteCount) }

  package var currentStamp: FileStamp? { nil }

  package var isUnchanged: Bool { true }

  package func isAtHand(_ range: Range<Int>) -> Bool { range.upperBound <= received.memoryLimit }

  package func withBytes<Result>(
    in range: Range<Int>, buffer: inout ReadBuffer,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    let clipped = range.clamped(to: 0..<byteCount)
    return try buffer.withBytes(
      of: clipped, extended: clipped, read: received.read(_:into:), body)
  }
}

/// A temporary file without a name.
private final class SpillFile: Sendable {
  private let descriptor: FileDescriptor
  /// The words for the file in errors, with its directory, because the file has no name.
  private let name: String

  /// The value of `TMPDIR`, or else `/var/tmp`, a directory for temporary files that is on disk rather than in memory.
  static var systemDirectory: FilePath {
    FilePath(environmentVariable("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/var/tmp")
  }

  init(in directory: FilePath) throws(AnimatedImageError) {
    name = "a temporary file in \(directory.quoted)"
    if let unnamed = try? IdleFiles.shared.open({
      try FileDescriptor.unnamed(in: directory)
    }) {
      descriptor = unnamed
      return
    }
    // Either the file system does not support unnamed files, or the call failed for another reason, which the next
    // attempt will report.
    for _ in 0..<16 {
      let name = "zoetrope-\(UInt64.random(in: 0 ... .max)).stream"
      let path = directory.appending(name)
      do {
        descriptor = try IdleFiles.shared.open {
          try FileDescriptor.open(
            path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
            permissions: [.ownerReadWrite])
        }
        FileSystem.remove(path)
        return
      } catch Errno.fileExists {
        continue
      } catch {
        throw FileSource.failure(error, self.name)
      }
    }
    throw AnimatedImageError(.io, "cannot find a free name for a temporary file")
  }

  deinit { try? descriptor.close() }

  func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(AnimatedImageError) {
    var rest = bytes
    do {
      // Without this check, the system would end the process with SIGXFSZ.
      if offset + bytes.count > FileSystem.fileSizeLimit { throw Errno.fileTooLarge }
      while !rest.isEmpty {
        let count = try descriptor.writeSome(
          rest.span.rawBytes, at: offset + bytes.count - rest.count)
        rest = rest.dropFirst(count)
      }
    } catch {
      throw FileSource.failure(error, self.name)
    }
  }

  func read(
    at offset: Int, into buffer: inout [UInt8], _ range: Range<Int>
  ) throws(AnimatedImageError) -> Int {
    do {
      return try descriptor.readAll(at: offset, into: &buffer, range)
    } catch {
      throw FileSource.failure(error, self.name)
    }
  }
}
