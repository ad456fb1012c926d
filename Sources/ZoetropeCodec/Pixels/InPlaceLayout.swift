/// How a decoded frame lies in memory that becomes the canvas itself.
///
/// A frame that replaces most of the canvas is not drawn on it: its decoder leaves the pixels where
/// they stand on the canvas, in a block as large, and the canvas takes the block and gives its own for
/// a frame to come (`Canvas.adopt`). Drawn, the pixels of every frame went from the core that decoded
/// them to the one that composites, and its next frame had to take the memory back: writing to lines
/// that another core has read took 7 ns each, 30 µs for a frame of 256 KB that inflates in 55 µs.
///
/// The samples are inflated at the block's end and move forward, row after row, to their places. Each
/// destination row ends at least 64 bytes before its source row ends, and a pixel takes no fewer bytes
/// than its sample, so forward expansion is safe in place.
struct InPlaceLayout {
  /// Bytes that an inflater may write to behind the samples.
  static let back = 64

  let size: PixelSize
  /// Bytes from one row of the canvas to the next.
  let bytesPerRow: Int
  /// Bytes of a block: the canvas, a filter byte for each row, the distance, and ``back``.
  let byteCount: Int
  private let isOpaque: Bool

  /// Nil for an image whose frames are drawn: formats that somebody else decodes, and samples of more
  /// bytes than a pixel, or fewer: RGB took a fortieth longer, since moving three bytes a pixel between
  /// cores costs less than four in every block.
  init?(_ header: ImageHeader, _ options: DecodingOptions) {
    guard header.format != .gif, options.decoder == .fast,
      options.canvasFormat == .rgba8,
      let format = PNGSampleFormat(header), format.isDirect, format.pixelSize == 4
    else { return nil }
    size = header.canvasSize
    bytesPerRow = PixelFormat.rgba8.bytesPerRow(width: size.width)
    byteCount = bytesPerRow * size.height + size.height + 64 + Self.back
    isOpaque = header.isOpaquePNG
  }

  /// Whether a frame is to become the canvas: what it leaves of the canvas has to be copied from the
  /// one before, which should be less than the frame.
  func suits(_ control: FrameControl) -> Bool {
    (control.blend == .source || isOpaque) && PixelRect(size).contains(control.rect)
      && control.rect.size.area > size.area / 2
  }

  /// Where `count` bytes of samples begin.
  func start(ofSamples count: Int) -> Int { byteCount - Self.back - count }
}
