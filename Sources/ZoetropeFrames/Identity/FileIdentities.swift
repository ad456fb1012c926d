internal import Synchronization
package import SystemPackage

/// Maps the stamps of files that have been hashed to their identities, to avoid hashing them again.
///
/// Holds at most ``capacity`` entries, and is cleared when full: hashing again is cheap (tens of GB/s), so a
/// finer eviction order does not justify its code.
package final class FileIdentities: Sendable {
  /// The map shared by the whole process.
  package static let shared = FileIdentities()

  private let known = Mutex<[FileStamp: ContentIdentity]>([:])
  package let capacity: Int

  package init(capacity: Int = 4096) { self.capacity = capacity }

  /// The identity of the file with this stamp; nil if it has not been hashed.
  package subscript(stamp: FileStamp) -> ContentIdentity? {
    known.withLock { $0[stamp] }
  }

  /// Records an identity, unless the file changed so recently that another write could leave its
  /// stamp unchanged.
  package func remember(_ identity: ContentIdentity, for stamp: FileStamp, now: Int64) {
    guard stamp.isSettled(at: now) else { return }
    known.withLock { known in
      if known.count >= capacity { known.removeAll(keepingCapacity: true) }
      known[stamp] = identity
    }
  }

  /// Number of entries.
  package var count: Int { known.withLock { $0.count } }
}

extension ContentIdentity {
  /// Computes the identity of the file at `path`.
  ///
  /// Costs one `open` and one `fstat` if this process has hashed a file with the same device,
  /// inode, size and times; otherwise the file is read once, 1 MiB at a time. Throws
  /// ``AnimatedImageError/Code/io`` if it cannot be read or changes while being read, and
  /// ``AnimatedImageError/Code/cancelled`` if the task is cancelled.
  public init(contentsOf path: some FilePathConvertible) throws(AnimatedImageError) {
    try self.init(contentsOf: path.filePath) { Task.isCancelled }
  }

  /// Like ``init(contentsOf:)``, for threads without a task.
  package init(contentsOf path: FilePath, isCancelled: () -> Bool) throws(AnimatedImageError) {
    self = try Self.opened(path) { file throws(AnimatedImageError) in
      try Self(of: file, knowing: .shared, now: FileStamp.now(), isCancelled: isCancelled)
    }
  }

  /// Like ``init(contentsOf:)``, for an open file, with a map and a time passed by the caller.
  package init(
    of file: FileDescriptor, knowing identities: FileIdentities, now: Int64,
    isCancelled: () -> Bool = { Task.isCancelled }
  ) throws(AnimatedImageError) {
    let stamp = try FileSource.stamp(of: file)
    if let known = identities[stamp] {
      self = known
      return
    }
    var hasher = try ContentHasher()
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    var offset = 0
    while true {
      if isCancelled() { throw AnimatedImageError(.cancelled, "while hashing") }
      let count = try Self.read(file, at: offset, into: &piece)
      if count == 0 || offset > stamp.byteCount { break }
      hasher.update(piece.rawBytes.extracting(first: count))
      offset += count
    }
    guard try FileStamp(of: file) == stamp, offset == stamp.byteCount else {
      throw AnimatedImageError(.io, "the file changed while it was read")
    }
    self = hasher.finish()
    identities.remember(self, for: stamp, now: now)
  }

  private static func opened<Value>(
    _ path: FilePath, _ body: (FileDescriptor) throws(AnimatedImageError) -> Value
  ) throws(AnimatedImageError) -> Value {
    let file: FileDescriptor
    do {
      file = try IdleFiles.shared.open {
        try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
      }
    } catch {
      throw AnimatedImageError(
        .io, "cannot open \(path): \(error)", systemError: error as? Errno)
    }
    // Nothing was written, so no data is lost if closing fails.
    defer { try? file.close() }
    return try body(file)
  }

  private static func read(
    _ file: FileDescriptor, at offset: Int, into piece: inout [UInt8]
  ) throws(AnimatedImageError) -> Int {
    do {
      return try file.read(at: offset, into: &piece, 0..<piece.count)
    } catch {
      throw AnimatedImageError(.io, "cannot read: \(error)", systemError: error as? Errno)
    }
  }
}

extension AnimatedImage {
  /// Returns the identity of the file's bytes, under which its frames are cached.
  ///
  /// Computed once for all copies of the image, on one of the library's threads, by reading the whole file 1 MiB at a
  /// time. If this process has already hashed the file and its device, inode, size and times are unchanged, the file is
  /// not read.
  ///
  /// - Throws: `io` if the file cannot be read or was modified after it was opened; `cancelled` if
  ///   the task is cancelled.
  public func contentIdentity() async throws(AnimatedImageError) -> ContentIdentity {
    if let identity = state.identity { return identity }
    return try await DecodeThreads.loading.value { [self] flag throws(AnimatedImageError) in
      try contentIdentity { flag.isRaised }
    }
  }

  /// Like ``contentIdentity()``, on the calling thread.
  package func contentIdentity(
    isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity {
    if let identity = state.identity { return identity }
    let stamp = source.currentStamp
    let now = FileStamp.now()
    guard source.isUnchanged else { throw changeError }
    if let stamp, let known = FileIdentities.shared[stamp] {
      state.identity = known
      return known
    }
    let identity = try hash(.process, isCancelled)
    guard source.isUnchanged, source.currentStamp == stamp else { throw changeError }
    if let stamp { FileIdentities.shared.remember(identity, for: stamp, now: now) }
    state.identity = identity
    return identity
  }

  /// Returns the identity of the file's bytes, keyed with `secret`. Reads them all.
  package func identity(
    keyedWith secret: HashSecret, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity {
    let stamp = source.currentStamp
    guard source.isUnchanged else { throw changeError }
    let identity = try hash(secret, isCancelled)
    guard source.isUnchanged, source.currentStamp == stamp else { throw changeError }
    return identity
  }

  private var changeError: AnimatedImageError {
    AnimatedImageError(.io, "the file changed after it was opened", format: format)
  }

  private func hash(
    _ secret: HashSecret, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity {
    var hasher = try ContentHasher(secret)
    var buffer = ReadBuffer()
    var offset = 0
    while offset < byteCount {
      if isCancelled() { throw AnimatedImageError(.cancelled, "while hashing", format: format) }
      let end = min(offset + 1 << 20, byteCount)
      try source.withBytes(in: offset..<end, buffer: &buffer) { bytes in hasher.update(bytes) }
      offset = end
    }
    return hasher.finish()
  }
}
