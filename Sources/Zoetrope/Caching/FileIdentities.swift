internal import Synchronization
public import SystemPackage

/// The identities of files that were hashed before, by their stamps: the quick way to an identity.
///
/// Holds at most ``capacity`` pairs; when full it is emptied, because a refill costs one hash each
/// (tens of GB/s) and any finer order would cost more code than it saves.
package final class FileIdentities: Sendable {
  /// The map of this process.
  package static let shared = FileIdentities()

  private let known = Mutex<[FileStamp: ContentIdentity]>([:])
  package let capacity: Int

  package init(capacity: Int = 4096) { self.capacity = capacity }

  /// The identity of the file with this stamp, when it was hashed before.
  package subscript(stamp: FileStamp) -> ContentIdentity? {
    known.withLock { $0[stamp] }
  }

  /// Remembers an identity, unless the file is so fresh that its stamp proves nothing.
  package func remember(_ identity: ContentIdentity, for stamp: FileStamp, now: Int64) {
    guard stamp.isSettled(at: now) else { return }
    known.withLock { known in
      if known.count >= capacity { known.removeAll(keepingCapacity: true) }
      known[stamp] = identity
    }
  }

  /// Pairs held.
  package var count: Int { known.withLock { $0.count } }
}

extension ContentIdentity {
  /// The identity of the file at `path`.
  ///
  /// A file whose device, inode, size and times are those of one hashed before by this process costs
  /// one `open` and one `fstat`; any other is read once, 1 MiB at a time. Throws
  /// ``AnimatedImageError/Code/io`` when it cannot be read or changes while it is read, and
  /// ``AnimatedImageError/Code/cancelled`` when the task was cancelled meanwhile.
  public init(contentsOf path: FilePath) throws(AnimatedImageError) {
    try self.init(contentsOf: path) { Task.isCancelled }
  }

  /// As ``init(contentsOf:)``, for threads without a task.
  init(contentsOf path: FilePath, isCancelled: () -> Bool) throws(AnimatedImageError) {
    self = try Self.opened(path) { file throws(AnimatedImageError) in
      try Self(of: file, knowing: .shared, now: FileStamp.now(), isCancelled: isCancelled)
    }
  }

  /// As ``init(contentsOf:)``, for an open file and a map and time of the caller's.
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
      unsafe hasher.update(piece.span.extracting(first: count).bytes)
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
      file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    } catch {
      throw AnimatedImageError(.io, "cannot open \(path): \(error)")
    }
    // Nothing was written, so a failing close loses nothing.
    defer { try? file.close() }
    return try body(file)
  }

  private static func read(
    _ file: FileDescriptor, at offset: Int, into piece: inout [UInt8]
  ) throws(AnimatedImageError) -> Int {
    do {
      return try unsafe piece.withUnsafeMutableBytes { buffer in
        try unsafe file.read(fromAbsoluteOffset: Int64(offset), into: buffer)
      }
    } catch { throw AnimatedImageError(.io, "cannot read: \(error)") }
  }
}

extension AnimatedImage {
  /// The identity of the file's bytes, under which its frames are cached.
  ///
  /// Computed once for all copies of the value: reads the whole file, 1 MiB at a time, on a thread of
  /// the library's own. A file that this process hashed before, whose device, inode, size and times are
  /// unchanged, is not read.
  ///
  /// - Throws: `io` when it cannot be read or was written to after it was opened, `cancelled` when the
  ///   task is cancelled meanwhile.
  public func contentIdentity() async throws(AnimatedImageError) -> ContentIdentity {
    if let identity = access.identity { return identity }
    return try await onThread(.loading) { (image, flag) throws(AnimatedImageError) in
      try image.contentIdentity { flag.isRaised }
    }
  }

  /// As ``contentIdentity()``, on the calling thread.
  package func contentIdentity(
    isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity {
    if let identity = access.identity { return identity }
    let stamp = source.currentStamp
    let now = FileStamp.now()
    guard source.isUnchanged else { throw changeError }
    if let stamp, let known = FileIdentities.shared[stamp] {
      access.identity = known
      return known
    }
    let identity = try hash(.process, isCancelled)
    guard source.isUnchanged, source.currentStamp == stamp else { throw changeError }
    if let stamp { FileIdentities.shared.remember(identity, for: stamp, now: now) }
    access.identity = identity
    return identity
  }

  /// The identity of the file's bytes, keyed with `secret`. Reads them all.
  func identity(
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
