import Zoetrope
import ZoetropeProcess

/// The form in which a picture is encoded.
enum PictureForm: Hashable, Sendable {
  case png(EncodingEffort)
  /// The rows of pixels, without padding.
  case rgba
  /// A frame of a ``VideoStream``, with transparent pixels blended over an opaque colour.
  case video(background: RGBA)

  init(_ format: OutputFormat) { self = format == .png ? .png(.balanced) : .rgba }
}

/// Encodes bitmaps. Each thread needs an encoder of its own.
final class FrameEncoder {
  private let form: PictureForm
  private let png: PNGEncoder

  init(_ form: PictureForm, metadata: AnimationMetadata?) {
    self.form = form
    if case .png(let effort) = form {
      png = PNGEncoder(effort: effort, metadata: metadata)
    } else {
      png = PNGEncoder()
    }
  }

  func encode(_ bitmap: Bitmap) throws(WriteFailure) -> [UInt8] {
    switch form {
    case .png: break
    case .rgba: return Self.plainRows(bitmap)
    case .video(let background): return VideoStream.frame(bitmap, over: background)
    }
    do throws(AnimatedImageError) {
      return try png.encode(bitmap)
    } catch {
      throw .encoding(error.detail)
    }
  }

  /// Returns all rows of `bitmap`, without padding.
  private static func plainRows(_ bitmap: Bitmap) -> [UInt8] {
    let rowBytes = bitmap.width * bitmap.format.bytesPerPixel
    var bytes: [UInt8] = []
    bytes.reserveCapacity(rowBytes * bitmap.height)
    for y in 0..<bitmap.height { bytes.append(copying: bitmap.row(y)) }
    return bytes
  }
}
