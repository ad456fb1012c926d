package import Zoetrope

extension Bitmap {
  /// A picture drawn row by row, of a size for which there is memory.
  package static func drawn(
    size: PixelSize, format: PixelFormat = .rgba8,
    drawingRow draw: (_ y: Int, _ bytes: inout MutableRawSpan) -> Void
  ) -> Bitmap {
    do {
      return try Bitmap(size: size, format: format, drawingRow: draw)
    } catch {
      preconditionFailure("\(error)")
    }
  }
}
