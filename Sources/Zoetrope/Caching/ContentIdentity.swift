internal import CXXHash

/// What a file's bytes are, whatever it is called and wherever it lies: their XXH3-128 hash, keyed with
/// random bytes that each process chooses for itself.
///
/// Two images with equal bytes share their cached frames, and a file that was written anew is never
/// served from frames of the old one. The hash is fast (tens of GB/s). Without the key, two files that
/// collide could be constructed, and one would be shown in place of the other. It is not a
/// cryptographic hash all the same: do not let strangers see identities.
///
/// An identity means nothing in another process, unless it comes from a ``FrameStore``, which keeps a key
/// of its own.
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
  public init(of bytes: borrowing RawSpan) { self = HashSecret.process.hash128(bytes) }

  /// The identity of `bytes`. Reads every byte once.
  public init(of bytes: [UInt8]) {
    // `Span.bytes` counts as unsafe for types with padding; bytes have none.
    unsafe self.init(of: bytes.span.bytes)
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
  /// Here because the state refers to its bytes.
  private let secret: HashSecret

  /// A hasher of no bytes yet. Throws `limitExceeded` when the system has no memory for its state.
  package init() throws(AnimatedImageError) { try self.init(.process) }

  /// As ``init()``, keyed with `secret`.
  init(_ secret: HashSecret) throws(AnimatedImageError) {
    guard let state = unsafe XXH3_createState() else {
      throw AnimatedImageError(.limitExceeded, "no memory for a hash")
    }
    unsafe self.state = state
    self.secret = secret
    _ = unsafe XXH3_128bits_reset_withSecret(
      state, secret.bytes.baseAddress, secret.bytes.count)
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

/// The random bytes that key hashes, so that nobody outside can construct two files that collide.
///
/// Sendable, and the pointer safe to use while the object lives: written once before anybody else sees
/// it, then only read, freed with the object.
@safe
final class HashSecret: @unchecked Sendable {
  /// That of this process.
  static let process = HashSecret(random())
  /// Twice the least that the hash takes.
  static let byteCount = 2 * Int(XXH3_SECRET_SIZE_MIN)

  fileprivate let bytes: UnsafeRawBufferPointer

  /// - Precondition: `content` has ``byteCount`` bytes, all random.
  init(_ content: [UInt8]) {
    precondition(content.count == Self.byteCount)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: content.count, alignment: 64)
    unsafe memory.copyBytes(from: content)
    unsafe bytes = UnsafeRawBufferPointer(memory)
  }

  deinit { unsafe bytes.deallocate() }

  static func random() -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// 128 bits that say what `data` is.
  func hash128(_ data: borrowing RawSpan) -> ContentIdentity {
    // The span's buffer is valid for the call; xxHash takes a nil address for no bytes.
    let hash = unsafe data.withUnsafeBytes { buffer in
      unsafe XXH3_128bits_withSecret(
        buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count)
    }
    return ContentIdentity(high: hash.high64, low: hash.low64)
  }

  /// 64 bits that say what `data` is: a checksum.
  func hash64(_ data: borrowing RawSpan) -> UInt64 {
    unsafe data.withUnsafeBytes { buffer in
      unsafe XXH3_64bits_withSecret(
        buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count)
    }
  }
}
