/// Identifies a file by its contents: an XXH3-128 hash, keyed with random bytes chosen by each
/// process.
///
/// Images with equal bytes share their cached frames, and a rewritten file never gets frames of its
/// old contents. The hash runs at tens of GB/s. The random key prevents an attacker from
/// constructing two files that collide. It is still not a cryptographic hash: do not reveal
/// identities to untrusted parties.
///
/// An identity is meaningless in another process, unless it comes from a ``FrameStore``, which has its own key.
public struct ContentIdentity: Sendable, Hashable {
  /// The upper 64 bits of the hash.
  public let high: UInt64
  /// The lower 64 bits of the hash.
  public let low: UInt64

  /// Creates an identity from its bits, such as the two halves of a ``description`` printed by this process.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Computes the identity of `bytes`. Reads every byte once.
  public init(of bytes: borrowing RawSpan) { self = HashSecret.process.hash128(bytes) }

  /// Computes the identity of `bytes`. Reads every byte once.
  package init(of bytes: [UInt8]) {
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

extension ContentIdentity {
  fileprivate init(_ hash: (high: UInt64, low: UInt64)) {
    self.init(high: hash.high, low: hash.low)
  }
}

extension HashSecret {
  /// Returns the 128-bit hash of `data`.
  package func hash128(_ data: borrowing RawSpan) -> ContentIdentity {
    ContentIdentity(sum128(data))
  }
}

extension ContentHasher {
  /// Returns the identity of all data hashed so far.
  package func finish() -> ContentIdentity { ContentIdentity(digest) }
}

/// A hash of a picture's pixels that is the same in every process and version: XXH3-128 with seed 0 over the
/// rows, top to bottom and without padding, in the order in which `extract --format rgba` writes them.
///
/// `xxh128sum` prints the same digits for the same bytes. It is not cryptographic: an attacker can construct
/// two pictures with the same hash.
package struct PixelHash: Sendable, Hashable {
  /// The algorithm's name in JSON.
  package static let algorithm = "xxh128"

  private let bits: ContentIdentity

  /// Computes the hash of `bitmap`. Reads every pixel once.
  ///
  /// - Throws: `outOfMemory` if allocating 600 bytes fails.
  package init(of bitmap: Bitmap) throws(AnimatedImageError) {
    var hasher = try ContentHasher(isStable: ())
    for y in 0..<bitmap.height { hasher.update(bitmap.row(y)) }
    bits = hasher.finish()
  }
}

extension PixelHash: CustomStringConvertible {
  /// 32 hexadecimal digits, most significant first.
  package var description: String { bits.description }
}
