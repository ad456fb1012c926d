internal import CXXHash

// Identities of bytes, by xxHash.
//
// Unsafe: xxHash takes addresses. Those of the bytes to hash are valid for the call; the state is
// freed by the only value that owns it; the secret is written before it is shared and freed with
// its owner.

/// Identifies a file by its contents: an XXH3-128 hash, keyed with random bytes chosen by each
/// process.
///
/// Images with equal bytes share their cached frames, and a rewritten file never gets frames of its
/// old contents. The hash runs at tens of GB/s. The random key prevents an attacker from
/// constructing two files that collide. It is still not a cryptographic hash: do not reveal
/// identities to untrusted parties.
///
/// An identity means nothing in another process, unless it comes from a ``FrameStore``, which has a
/// key of its own.
public struct ContentIdentity: Sendable, Hashable {
  /// The upper 64 bits of the hash.
  public let high: UInt64
  /// The lower 64 bits of the hash.
  public let low: UInt64

  /// Creates an identity from its bits, such as the two halves of a ``description`` of this
  /// process.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Computes the identity of `bytes`. Reads every byte once.
  public init(of bytes: borrowing RawSpan) { self = HashSecret.process.hash128(bytes) }

  /// Computes the identity of `bytes`. Reads every byte once.
  public init(of bytes: [UInt8]) {
    self.init(of: bytes.rawBytes)
  }
}

extension ContentIdentity: CustomStringConvertible {
  /// 32 hexadecimal digits, most significant first.
  public var description: String { Self.digits(high) + Self.digits(low) }

  private static func digits(_ word: UInt64) -> String {
    let text = String(word, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}

/// Computes a ``ContentIdentity`` incrementally.
///
/// xxHash allocates the state, which needs 64-byte alignment. This value is its only owner: it is
/// created in `init`, freed in `deinit`, and accessed only in `mutating` or consuming calls.
@safe
package struct ContentHasher: ~Copyable {
  private let state: OpaquePointer
  /// Retained because the state refers to its bytes; nil without a secret.
  private let secret: HashSecret?

  /// An empty hasher. Throws `outOfMemory` if allocating its state fails.
  package init() throws(AnimatedImageError) { try self.init(.process) }

  /// Like ``init()``, keyed with `secret`.
  package init(_ secret: HashSecret) throws(AnimatedImageError) {
    guard let state = unsafe XXH3_createState() else {
      throw AnimatedImageError(.outOfMemory, "no memory for a hash")
    }
    unsafe self.state = state
    self.secret = secret
    _ = unsafe XXH3_128bits_reset_withSecret(
      state, secret.bytes.baseAddress, secret.bytes.count)
  }

  /// An empty hasher without a secret, whose results are those of XXH3-128 with seed 0 in every program.
  package init(isStable: Void) throws(AnimatedImageError) {
    guard let state = unsafe XXH3_createState() else {
      throw AnimatedImageError(.outOfMemory, "no memory for a hash")
    }
    unsafe self.state = state
    secret = nil
    _ = unsafe XXH3_128bits_reset(state)
  }

  deinit { _ = unsafe XXH3_freeState(state) }

  /// Adds the next piece.
  package mutating func update(_ bytes: borrowing RawSpan) {
    _ = unsafe bytes.withUnsafeBytes { buffer in
      unsafe XXH3_128bits_update(state, buffer.baseAddress, buffer.count)
    }
  }

  /// The identity of all pieces so far.
  package func finish() -> ContentIdentity {
    let hash = unsafe XXH3_128bits_digest(state)
    return ContentIdentity(high: hash.high64, low: hash.low64)
  }
}

/// The random bytes that key hashes, so that outsiders cannot construct two files that collide.
///
/// Safe to use from any thread while the object exists: the bytes are written before it is shared,
/// then only read, and freed with it.
@safe
package final class HashSecret: Sendable {
  /// The secret of this process.
  package static let process = HashSecret(random())
  /// Twice the minimum that xxHash requires.
  package static let byteCount = 2 * Int(XXH3_SECRET_SIZE_MIN)

  // The pointer never changes, the bytes are written in `init` alone and freed in `deinit`, when no
  // reference is left.
  fileprivate nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

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

  /// The 128-bit hash of `data`.
  package func hash128(_ data: borrowing RawSpan) -> ContentIdentity {
    // The span's buffer is valid for the call; xxHash takes a nil address for no bytes.
    let hash = unsafe data.withUnsafeBytes { buffer in
      unsafe XXH3_128bits_withSecret(
        buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count)
    }
    return ContentIdentity(high: hash.high64, low: hash.low64)
  }

  /// The 64-bit hash of `data`, used as a checksum.
  package func hash64(_ data: borrowing RawSpan) -> UInt64 {
    unsafe data.withUnsafeBytes { buffer in
      unsafe XXH3_64bits_withSecret(
        buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count)
    }
  }
}
