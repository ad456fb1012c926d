import Zoetrope

/// Turns bitmaps into the bytes of one output format; one for each thread.
final class FrameEncoder {
  private let format: OutputFormat
  private let png: PNGEncoder

  init(format: OutputFormat, metadata: AnimationMetadata?) {
    self.format = format
    png = PNGEncoder(metadata: metadata)
  }

  func encode(_ bitmap: Bitmap) throws(WriteFailure) -> [UInt8] {
    if format == .rgba { return Self.plainRows(bitmap) }
    do throws(AnimatedImageError) {
      return try png.encode(bitmap)
    } catch {
      throw .encoding(error.detail)
    }
  }

  /// The rows one after another, without padding.
  private static func plainRows(_ bitmap: Bitmap) -> [UInt8] {
    let rowBytes = bitmap.width * bitmap.format.bytesPerPixel
    var bytes: [UInt8] = []
    bytes.reserveCapacity(rowBytes * bitmap.height)
    for y in 0..<bitmap.height {
      // The span is valid for the closure; `append` copies it.
      unsafe bitmap.row(y).withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }
    return bytes
  }
}
