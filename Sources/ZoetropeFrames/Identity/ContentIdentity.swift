/// Identifies a file by its contents. The identity is an XXH3-128 hash of the file's bytes, keyed with random bytes
/// that each process chooses for itself.
///
/// Images with equal bytes share their cached frames, and a file that is rewritten never gets frames of its old
/// contents. The hash is computed at tens of GB/s. The random key prevents an attacker from constructing two files with
/// the same identity. The hash is still not cryptographic: do not reveal identities to untrusted parties.
///
/// An identity is meaningless in another process, unless it comes from a ``FrameStore``, which has its own key.
public struct ContentIdentity: Sendable, Hashable {
  /// The upper 64 bits of the hash.
  public let high: UInt64
  /// The lower 64 bits of the hash.
  public let low: UInt64

  /// Creates an identity from the two halves of its hash, such as the two halves of a ``description`` printed by this
  /// process.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Computes the identity of `bytes`. Every byte is read once.
  public init(of bytes: borrowing RawSpan) { self = HashSecret.process.hash128(bytes) }

  /// Computes the identity of `bytes`. Every byte is read once.
  package init(of bytes: [UInt8]) {
    self.init(of: bytes.rawBytes)
  }
}

extension ContentIdentity: CustomStringConvertible {
  /// The hash as 32 hexadecimal digits, the most significant digit first.
  public var description: String { Self.digits(high) + Self.digits(low) }

  private static func digits(_ word: UInt64) -> String {
    let text = String(word, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}

extension ContentIdentity {
  fileprivate init(_ hash: (high: UInt64, low: UInt64)) {
    self.init(high: hash.high, low: hash.low)
  }
}

extension HashSecret {
  /// Returns the 128-bit hash of `data`, keyed with this secret.
  package func hash128(_ data: borrowing RawSpan) -> ContentIdentity {
    ContentIdentity(sum128(data))
  }
}

extension ContentHasher {
  /// Returns the identity of all the data passed to the hasher so far.
  package func finish() -> ContentIdentity { ContentIdentity(digest) }
}

/// A hash of a bitmap's pixels that is the same in every process and in every version of the library. It is the
/// XXH3-128 hash, with seed 0, of the bytes that `extract --format rgba` writes: the rows from top to bottom, without
/// padding.
///
/// `xxh128sum` prints the same digits for the same bytes. The hash is not cryptographic: an attacker can construct two
/// bitmaps with the same hash.
package struct PixelHash: Sendable, Hashable {
  /// The name of the hash algorithm in JSON output.
  package static let algorithm = "xxh128"

  private let bits: ContentIdentity

  /// Computes the hash of `bitmap`. Every pixel is read once.
  ///
  /// - Throws: `outOfMemory` if the 600 bytes of the hash state cannot be allocated.
  package init(of bitmap: Bitmap) throws(AnimatedImageError) {
    var hasher = try ContentHasher(nil)
    for y in 0..<bitmap.height { hasher.update(bitmap.row(y)) }
    bits = hasher.finish()
  }
}

extension PixelHash: CustomStringConvertible {
  /// The hash as 32 hexadecimal digits, the most significant digit first.
  package var description: String { bits.description }
}
