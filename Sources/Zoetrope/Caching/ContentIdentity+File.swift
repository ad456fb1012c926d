internal import Synchronization
public import SystemPackage

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
