internal import CXXHash

// Identities of bytes, by xxHash.
//
// Unsafe: the library takes addresses. Those of the bytes to hash are valid for the call; the state is
// freed with the one value that owns it; the secret is written before anybody sees it and never freed.

/// Identifies a file by its contents: an XXH3-128 hash, keyed with random bytes chosen by each process.
///
/// Images with equal bytes share their cached frames, and a rewritten file never gets frames of its old
/// contents. The hash runs at tens of GB/s. The random key prevents an attacker from constructing two
/// files that collide. It is still not a cryptographic hash: do not reveal identities to untrusted
/// parties.
///
/// An identity is meaningless in another process. A persistent store must use its own key and record
/// the algorithm.
public struct ContentIdentity: Sendable, Hashable {
  /// The upper 64 bits of the hash.
  public let high: UInt64
  /// The lower 64 bits of the hash.
  public let low: UInt64

  /// Creates an identity from its bits, such as the two halves of a ``description`` of this process.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Computes the identity of `bytes`. Reads every byte once.
  public init(of bytes: borrowing RawSpan) {
    let secret = unsafe HashSecret.bytes
    // The span's buffer is valid for the call; xxHash takes a nil address for no bytes.
    let hash = unsafe bytes.withUnsafeBytes { buffer in
      unsafe XXH3_128bits_withSecret(
        buffer.baseAddress, buffer.count, secret.baseAddress, secret.count)
    }
    self.init(high: hash.high64, low: hash.low64)
  }

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

  /// Creates a hasher. Throws `limitExceeded` if allocation fails.
  package init() throws(AnimatedImageError) {
    guard let state = unsafe XXH3_createState() else {
      throw AnimatedImageError(.limitExceeded, "no memory for a hash")
    }
    unsafe self.state = state
    // The secret is never freed, so it outlives the state, which refers to it.
    let secret = unsafe HashSecret.bytes
    _ = unsafe XXH3_128bits_reset_withSecret(state, secret.baseAddress, secret.count)
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

/// The random bytes that key this process's hashes, so that colliding files cannot be constructed.
private enum HashSecret {
  /// Written once before anybody else sees them, then only read, and never freed.
  nonisolated(unsafe) static let bytes = {
    // Twice the least that the hash takes.
    let count = 2 * Int(XXH3_SECRET_SIZE_MIN)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
    var random = SystemRandomNumberGenerator()
    for place in memory.indices {
      unsafe memory[place] = UInt8.random(in: 0...255, using: &random)
    }
    return UnsafeRawBufferPointer(memory)
  }()
}
