/// A hash of a picture's pixels that is the same in every process and version: XXH3-128 with seed 0 over the
/// rows, top to bottom and without padding, in the order in which `extract --format rgba` writes them.
///
/// `xxh128sum` prints the same digits for the same bytes. It is not cryptographic: whoever chooses both
/// pictures can make their hashes collide.
package struct PixelHash: Sendable, Hashable {
  /// What the hash is called in JSON.
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
