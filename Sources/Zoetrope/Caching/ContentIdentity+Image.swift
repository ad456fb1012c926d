extension AnimatedImage {
  /// The identity of the file's bytes, under which its frames are cached.
  ///
  /// Worked out once for all copies of the value: reads the whole file, 1 MiB at a time, on the
  /// calling thread. A file that was hashed before by this process, and has the same device, inode,
  /// size and times since, is not read.
  ///
  /// - Throws: `io` when it cannot be read or was written to after it was opened, `cancelled` when the
  ///   task is cancelled meanwhile.
  public func contentIdentity() throws(AnimatedImageError) -> ContentIdentity {
    try contentIdentity { Task.isCancelled }
  }

  /// As ``contentIdentity()``, for threads without a task.
  func contentIdentity(
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
    let identity = try hash(isCancelled)
    guard source.isUnchanged, source.currentStamp == stamp else { throw changeError }
    if let stamp { FileIdentities.shared.remember(identity, for: stamp, now: now) }
    access.identity = identity
    return identity
  }

  private var changeError: AnimatedImageError {
    AnimatedImageError(.io, "the file changed after it was opened", format: format)
  }

  private func hash(_ isCancelled: () -> Bool) throws(AnimatedImageError) -> ContentIdentity {
    var hasher = try ContentHasher()
    var scratch: [UInt8] = []
    var offset = 0
    while offset < byteCount {
      if isCancelled() { throw AnimatedImageError(.cancelled, "while hashing", format: format) }
      let end = min(offset + 1 << 20, byteCount)
      try source.withBytes(in: offset..<end, scratch: &scratch) { bytes in hasher.update(bytes) }
      offset = end
    }
    return hasher.finish()
  }
}
