internal import CXXHash

/// Computes an XXH3-128 hash incrementally.
///
/// xxHash allocates the state, which needs 64-byte alignment. This value is the state's only owner:
/// it creates it in `init`, frees it in `deinit`, and accesses it only in `mutating` or consuming
/// calls.
@safe
package struct ContentHasher: ~Copyable {
  private let state: OpaquePointer
  /// Retained because the state refers to the secret's bytes. Nil for a hasher without a secret.
  private let secret: HashSecret?

  /// Creates an empty hasher. Throws `outOfMemory` if allocating its state fails.
  package init() throws(AnimatedImageError) { try self.init(.process) }

  /// Like ``init()``, keyed with `secret`.
  package init(_ secret: HashSecret) throws(AnimatedImageError) {
    guard let state = unsafe XXH3_createState() else {
      throw AnimatedImageError(.outOfMemory, "not enough memory for a hash")
    }
    unsafe self.state = state
    self.secret = secret
    _ = unsafe XXH3_128bits_reset_withSecret(
      state, secret.bytes.baseAddress, secret.bytes.count)
  }

  /// Creates an empty hasher without a secret. Its results equal those of XXH3-128 with seed 0 in every program.
  package init(isStable: Void) throws(AnimatedImageError) {
    guard let state = unsafe XXH3_createState() else {
      throw AnimatedImageError(.outOfMemory, "not enough memory for a hash")
    }
    unsafe self.state = state
    secret = nil
    _ = unsafe XXH3_128bits_reset(state)
  }

  deinit { _ = unsafe XXH3_freeState(state) }

  /// Adds the next bytes.
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

/// Random bytes that key the hashes, so that nobody else can construct two files that collide.
///
/// Safe to use from any thread while the object exists: the bytes are written before it is shared, only read
/// afterwards, and freed with it.
@safe
package final class HashSecret: Sendable {
  /// The secret of this process.
  package static let process = HashSecret(random())
  /// Twice the minimum that xxHash requires.
  package static let byteCount = 2 * Int(XXH3_SECRET_SIZE_MIN)

  // The pointer never changes. The bytes are written only in `init`, and freed in `deinit` when no
  // reference is left.
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
    // The span's buffer is valid for the call. xxHash accepts a nil address if there are no bytes.
    let hash = unsafe data.withUnsafeBytes { buffer in
      unsafe XXH3_128bits_withSecret(
        buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count)
    }
    return (hash.high64, hash.low64)
  }

  /// Returns the 64-bit hash of `data`, used as a checksum.
  package func hash64(_ data: borrowing RawSpan) -> UInt64 {
    unsafe data.withUnsafeBytes { buffer in
      unsafe XXH3_64bits_withSecret(
        buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count)
    }
  }
}
