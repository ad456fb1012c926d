internal import Synchronization
package import SystemPackage

/// A map that gives the identity of each file that has been hashed, keyed by the file's stamp. It avoids hashing a file
/// again.
///
/// The map holds at most ``capacity`` entries, and is cleared when it is full. Hashing a file again is cheap (tens of
/// GB/s), so evicting entries one by one would not be worth the code.
package final class FileIdentities: Sendable {
  /// The map shared by the whole process.
  package static let shared = FileIdentities()

  private let known = Mutex<[FileStamp: ContentIdentity]>([:])
  package let capacity: Int

  package init(capacity: Int = 4096) { self.capacity = capacity }

  /// The identity of the file with this stamp, or nil if no file with this stamp has been hashed.
  package subscript(stamp: FileStamp) -> ContentIdentity? {
    known.withLock { $0[stamp] }
  }

  /// Records `identity` for `stamp`, unless the file changed so recently that its bytes could change once more without
  /// changing the stamp.
  package func remember(_ identity: ContentIdentity, for stamp: FileStamp, now: Int64) {
    guard stamp.isSettled(at: now) else { return }
    known.withLock { known in
      if known.count >= capacity { known.removeAll(keepingCapacity: true) }
      known[stamp] = identity
    }
  }

  /// The number of entries.
  package var count: Int { known.withLock { $0.count } }
}

extension ContentIdentity {
  /// Computes the identity of the file at `path`.
  ///
  /// If this process has already hashed a file with the same device, inode, size and times, this costs one `open` and
  /// one `fstat`. Otherwise the file is read once, 1 MiB at a time.
  ///
  /// - Throws: ``AnimatedImageError/Code/io`` if the file cannot be read, or changes while it is being read;
  ///   ``AnimatedImageError/Code/cancelled`` if the task is cancelled.
  public init(contentsOf path: some FilePathConvertible) throws(AnimatedImageError) {
    try self.init(contentsOf: path.filePath) { Task.isCancelled }
  }

  /// Computes the identity of the file at `path` like ``init(contentsOf:)``, for threads without a task. `isCancelled`
  /// takes the place of the check for cancellation of the task.
  package init(contentsOf path: FilePath, isCancelled: () -> Bool) throws(AnimatedImageError) {
    let file: FileDescriptor
    do throws(AnimatedImageError) { file = try FileSource.open(path) } catch {
      throw AnimatedImageError(
        .io, "cannot open \(path.quoted): \(error.detail)", systemError: error.systemError)
    }
    // The file was only read, so no data is lost if closing it fails.
    defer { try? file.close() }
    try self.init(of: file, knowing: .shared, now: FileStamp.now(), isCancelled: isCancelled)
  }

  /// Computes the identity of the open file `file` like ``init(contentsOf:)``, with a map and a time that the caller
  /// passes. If `identities` contains the identity, the file is not read. Otherwise the identity is computed and
  /// recorded in `identities`, with `now` as the current time.
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
      if isCancelled() { throw AnimatedImageError(.cancelled, "stopped while hashing the file") }
      let count: Int
      do { count = try file.read(at: offset, into: &piece, 0..<piece.count) } catch {
        throw AnimatedImageError(
          .io, "cannot read the file: \(error)", systemError: error as? Errno)
      }
      if count == 0 || offset > stamp.byteCount { break }
      hasher.update(piece.rawBytes.extracting(first: count))
      offset += count
    }
    guard try FileStamp(of: file) == stamp, offset == stamp.byteCount else {
      throw AnimatedImageError(.io, "the file changed while it was being read")
    }
    self = hasher.finish()
    identities.remember(self, for: stamp, now: now)
  }
}

extension AnimatedImage {
  /// Returns the identity of the file's bytes. The image's frames are cached under this identity.
  ///
  /// The identity is computed once for all copies of the image, on one of the library's threads, by reading the whole
  /// file 1 MiB at a time. If this process has already hashed the file and the file's device, inode, size and times are
  /// unchanged, the file is not read.
  ///
  /// - Throws: `io` if the file cannot be read or was modified after it was opened; `cancelled` if the task is
  ///   cancelled.
  public func contentIdentity() async throws(AnimatedImageError) -> ContentIdentity {
    if let identity = state.identity { return identity }
    return try await DecodeThreads.loading.value { [self] flag throws(AnimatedImageError) in
      try contentIdentity { flag.isRaised }
    }
  }

  /// Returns the identity of the file's bytes like ``contentIdentity()``, but computes it on the calling thread.
  ///
  /// - Throws: `io` if the file cannot be read or was modified after it was opened; `cancelled` once `isCancelled`
  ///   returns true.
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

  /// Computes the hash of the file's bytes, keyed with `secret`, and returns it as an identity. The whole file is read.
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
      if isCancelled() {
        throw AnimatedImageError(.cancelled, "stopped while hashing the file", format: format)
      }
      let end = min(offset + 1 << 20, byteCount)
      try source.withBytes(in: offset..<end, buffer: &buffer) { bytes in hasher.update(bytes) }
      offset = end
    }
    return hasher.finish()
  }
}
