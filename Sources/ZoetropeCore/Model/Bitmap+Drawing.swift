extension Bitmap {
  /// Makes a picture by drawing its rows, from the top one down.
  ///
  /// `draw` is called once for each row with its bytes, without padding and all zero
  /// (transparent black), and fills them in as `format` lays pixels out.
  public init(
    size: PixelSize, format: PixelFormat = .rgba8,
    drawingRow draw: (_ y: Int, _ bytes: inout MutableRawSpan) -> Void
  ) {
    let buffer = PixelBuffer(size: size, format: format)
    let stride = buffer.bytesPerRow
    let count = max(size.width, 0) * format.bytesPerPixel
    for y in 0..<max(size.height, 0) {
      // The buffer is ours alone until `finish`, and holds `height` rows of `stride` bytes.
      let start = unsafe buffer.baseAddress + y * stride
      var row = unsafe MutableRawSpan(_unsafeStart: start, byteCount: count)
      draw(y, &row)
    }
    self = buffer.finish()
  }
}
