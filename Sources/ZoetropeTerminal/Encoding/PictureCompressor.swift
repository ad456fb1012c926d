internal import Synchronization
internal import ZoetropeFrames

/// Compresses pictures. The compressor has some megabytes of working memory, which all copies of an encoder share.
///
/// Copies of an encoder do not encode at the same time, so the locks are never contended.
final class PictureCompressor: Sendable {
  private let encoder = Mutex(PNGEncoder())
  private let compressor = Mutex(ZlibCompressor(level: 6))

  /// Returns part of a picture as a PNG file, or nil if there is not enough memory.
  ///
  /// Transparent pixels are blended with `backdrop`. If `backdrop` is nil, alpha is kept.
  func png(_ bitmap: Bitmap, _ rect: PixelRect, over backdrop: Backdrop?) -> [UInt8]? {
    var (bitmap, rect) = (bitmap, rect)
    if let backdrop, !PixelBlock.isOpaque(bitmap, rect) {
      bitmap = PixelBlock.picture(bitmap, rect, over: backdrop)
      rect = PixelRect(bitmap.size)
    }
    return encoder.withLock { try? $0.encode(bitmap, in: rect) }
  }

  /// Returns `bytes` as a zlib stream, or nil if there is not enough memory.
  func zlib(_ bytes: [UInt8]) -> [UInt8]? {
    compressor.withLock { compressor in
      let stream = compressor?.compress(bytes) ?? []
      return stream.isEmpty ? nil : stream
    }
  }
}
