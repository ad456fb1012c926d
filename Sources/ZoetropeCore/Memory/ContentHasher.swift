internal import CXXHash

/// A hasher that computes an XXH3-128 hash incrementally.
///
/// The state of the hash needs 64-byte alignment, so xxHash allocates it. This value is the state's only owner: it
/// creates the state in `init`, frees it in `deinit`, and changes it only in `mutating` calls.
@safe
package struct ContentHasher: ~Copyable {
  private let state: OpaquePointer
  /// The secret, retained because the state refers to its bytes, or nil if the hasher has no secret.
  private let secret: HashSecret?

  /// Creates an empty hasher. Throws `outOfMemory` if allocating the state fails.
  ///
  /// - Parameter secret: The secret that keys the hash. Default: the secret of this process. If it is nil, results are
  ///   the same in every program: those of XXH3-128 with seed 0.
  package init(_ secret: HashSecret? = HashSecret.process) throws(AnimatedImageError) {
    guard let state = unsafe XXH3_createState() else {
      throw AnimatedImageError(.outOfMemory, "not enough memory to compute a hash")
    }
    unsafe self.state = state
    self.secret = secret
    guard let secret else {
      _ = unsafe XXH3_128bits_reset(state)
      return
    }
    _ = unsafe XXH3_128bits_reset_withSecret(
      state, secret.bytes.baseAddress, secret.bytes.count)
  }

  deinit { _ = unsafe XXH3_freeState(state) }

  /// Adds `bytes` to the bytes being hashed.
  package mutating func update(_ bytes: borrowing RawSpan) {
    _ = unsafe bytes.withUnsafeBytes { buffer in
      unsafe XXH3_128bits_update(state, buffer.baseAddress, buffer.count)
    }
  }

  /// The hash of all bytes added so far.
  package var digest: (high: UInt64, low: UInt64) {
    let hash = unsafe XXH3_128bits_digest(state)
    return (hash.high64, hash.low64)
  }
}

/// Random bytes that key the hashes, so that nobody who does not know the bytes can construct two files with the same
/// hash.
///
/// The object can safely be used from any thread: its bytes are written before it is shared, are only read afterwards,
/// and are freed together with the object.
@safe
package final class HashSecret: Sendable {
  /// The secret of this process.
  package static let process = HashSecret(random())
  /// The number of bytes of a secret, which is twice the minimum that xxHash requires.
  package static let byteCount = 2 * Int(XXH3_SECRET_SIZE_MIN)

  // The pointer never changes. The bytes are written only in `init`, and freed in `deinit`, when no reference to the
  // object is left.
  fileprivate nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

  /// Creates a secret.
  ///
  /// - Precondition: `content` has ``byteCount`` bytes, all random.
  package init(_ content: [UInt8]) {
    precondition(content.count == Self.byteCount)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: content.count, alignment: 64)
    unsafe memory.copyBytes(from: content)
    unsafe bytes = UnsafeRawBufferPointer(memory)
  }

  deinit { unsafe bytes.deallocate() }

  package static func random() -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// Returns the 128-bit hash of `data`.
  package func sum128(_ data: borrowing RawSpan) -> (high: UInt64, low: UInt64) {
    // The span's buffer is valid during the call. xxHash accepts a nil address if there are no bytes.
    let hash = unsafe data.withUnsafeBytes { buffer in
      unsafe XXH3_128bits_withSecret(
        buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count)
    }
    return (hash.high64, hash.low64)
  }

  /// Returns the 64-bit hash of `data`, which is used as a checksum.
  package func hash64(_ data: borrowing RawSpan) -> UInt64 {
    unsafe data.withUnsafeBytes { buffer in
      unsafe XXH3_64bits_withSecret(
        buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count)
    }
  }
}
