extension AnimatedImage {
  /// The identity of the file's bytes, under which its frames are cached.
  ///
  /// Reads the whole file once, 1 MiB at a time, on the calling thread. For a file by path,
  /// ``ContentIdentity/init(contentsOf:)`` mostly needs to look at its times only.
  ///
  /// - Throws: `io` when it cannot be read, `cancelled` when the task is cancelled meanwhile.
  public func contentIdentity() throws(AnimatedImageError) -> ContentIdentity {
    var hasher = ContentHasher()
    var scratch: [UInt8] = []
    var offset = 0
    while offset < byteCount {
      if Task.isCancelled { throw AnimatedImageError(.cancelled, "while hashing", format: format) }
      let end = min(offset + 1 << 20, byteCount)
      try source.withBytes(in: offset..<end, scratch: &scratch) { bytes in hasher.update(bytes) }
      offset = end
    }
    return hasher.finish()
  }
}
