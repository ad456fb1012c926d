/// The compressors of one encoder, one for each level that it has used.
///
/// They are made when first asked for: the one of level 8 takes several megabytes, which pictures
/// that never need it should not cost.
final class CompressorSet {
  private var made: [Int: ZlibCompressor] = [:]

  func compressor(level: Int) throws(AnimatedImageError) -> ZlibCompressor {
    if let compressor = made[level] { return compressor }
    guard let compressor = ZlibCompressor(level: level) else {
      throw AnimatedImageError(.limitExceeded, "no memory to compress a picture")
    }
    made[level] = compressor
    return compressor
  }
}
