internal import Synchronization
internal import ZoetropeFrames

/// Compresses pictures, with some megabytes of working memory that copies of an encoder share.
///
/// Copies do not encode at the same time, so the locks are never contended.
final class PictureCompressor: Sendable {
  private let encoder = Mutex(PNGEncoder())
  private let compressor = Mutex(ZlibCompressor(level: 6))

  /// Part of a picture as a PNG file; nil only when memory ran out.
  ///
  /// Transparent pixels are blended with `backdrop`; without one, alpha is kept.
  func png(_ bitmap: Bitmap, _ rect: PixelRect, over backdrop: Backdrop?) -> [UInt8]? {
    var (bitmap, rect) = (bitmap, rect)
    if let backdrop, !PixelBlock.isOpaque(bitmap, rect) {
      bitmap = PixelBlock.picture(bitmap, rect, over: backdrop)
      rect = PixelRect(bitmap.size)
    }
    return encoder.withLock { try? $0.encode(bitmap, in: rect) }
  }

  /// The bytes as a zlib stream; nil only when memory ran out.
  func zlib(_ bytes: [UInt8]) -> [UInt8]? {
    compressor.withLock { compressor in
      let stream = compressor?.compress(bytes) ?? []
      return stream.isEmpty ? nil : stream
    }
  }
}
