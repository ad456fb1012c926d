/// A frame that is decoded while its bytes are still arriving. Each byte is decoded once.
///
/// The pixels are those that a browser shows: the rows decoded so far. In an interlaced frame, each row or pixel also
/// fills the neighbouring rows or pixels that later passes will replace. The rows equal those that ``FrameDecoder``
/// decodes from the same bytes. GIF codes are expanded by this package's own loop. PNG data goes through libpng's
/// progressive reader, because libdeflate accepts only whole streams.
package final class ArrivingFrame {
  /// The frame's properties, including the byte range known when decoding began.
  package let control: FrameControl
  /// The pixels decoded so far, which can be drawn.
  package var pixels: FramePixels { decoder.pixels }
  package var progress: ArrivalProgress { decoder.progress }
  /// The number of bytes decoded so far, from the start of the frame's byte range.
  package private(set) var byteCount = 0
  private var decoder: any ArrivalDecoding

  package init(
    _ control: FrameControl, header: ImageHeader, options: DecodingOptions
  ) throws(AnimatedImageError) {
    self.control = control
    decoder = try header.codec.makeArrival(control, header, options)
  }

  /// Decodes `bytes`, the next bytes of the frame's byte range.
  package func feed(_ bytes: borrowing RawSpan) {
    byteCount += bytes.byteCount
    decoder.feed(bytes)
  }
}
