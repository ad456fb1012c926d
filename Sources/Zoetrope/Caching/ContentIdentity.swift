internal import CXXHash

// Identities of bytes, by xxHash.
//
// Unsafe: the library takes addresses. Those of the bytes to hash are valid for the call; the state is
// freed with the one value that owns it; the secret is written before anybody sees it and never freed.

/// What a file's bytes are, whatever it is called and wherever it lies: their XXH3-128 hash, keyed with
/// random bytes that each process chooses for itself.
///
/// Two images with equal bytes share their cached frames, and a file that was written anew is never
/// served from frames of the old one. The hash is fast (tens of GB/s). Without the key, two files that
/// collide could be constructed, and one would be shown in place of the other. It is not a
/// cryptographic hash all the same: do not let strangers see identities.
///
/// An identity means nothing in another process. A store that outlives the process needs a key of its
/// own, kept with it, and the name of the algorithm.
public struct ContentIdentity: Sendable, Hashable {
  /// The upper 64 bits of the hash.
  public let high: UInt64
  /// The lower 64 bits of the hash.
  public let low: UInt64

  /// The identity with these bits, as read back from ``description``'s two halves in this process.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The identity of `bytes`. Reads every byte once.
  public init(of bytes: borrowing RawSpan) {
    let secret = unsafe HashSecret.bytes
    // The span's buffer is valid for the call; xxHash takes a nil address for no bytes.
    let hash = unsafe bytes.withUnsafeBytes { buffer in
      unsafe XXH3_128bits_withSecret(
        buffer.baseAddress, buffer.count, secret.baseAddress, secret.count)
    }
    self.init(high: hash.high64, low: hash.low64)
  }

  /// The identity of `bytes`. Reads every byte once.
  public init(of bytes: [UInt8]) {
    self.init(of: bytes.rawBytes)
  }
}

extension ContentIdentity: CustomStringConvertible {
  /// 32 hexadecimal digits, highest first.
  public var description: String { Self.digits(high) + Self.digits(low) }

  private static func digits(_ word: UInt64) -> String {
    let text = String(word, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}

/// Works out a ``ContentIdentity`` from bytes that come in pieces.
///
/// The state lives in memory that xxHash allocates (it wants 64-byte alignment), owned by this value
/// alone: made in `init`, freed in `deinit`, touched only through `mutating` or consuming calls.
@safe
package struct ContentHasher: ~Copyable {
  private let state: OpaquePointer

  /// A hasher of no bytes yet. Throws `limitExceeded` when the system has no memory for its state.
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

/// The random bytes that key the hashes of this process, so that nobody outside can construct two
/// files that collide.
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
