/// Decodes a frame whose bytes are still arriving, each byte once.
///
/// Shows what a browser shows: the rows so far. In an interlaced frame, each row or pixel fills its block until
/// later passes refine it. The rows so far equal those that ``FrameDecoder`` returns for the same bytes. GIF
/// codes go through this library's own loop; PNG data goes through libpng's progressive reader, because
/// libdeflate takes only whole streams.
package final class ArrivingFrame {
  /// The frame. Its byte range ends where it ended when decoding began.
  package let control: FrameControl
  /// The part of it that can be drawn.
  package var pixels: FramePixels { decoder.pixels }
  package var progress: ArrivalProgress { decoder.progress }
  /// The bytes of the frame decoded so far, counted from the start of its range.
  package private(set) var byteCount = 0
  private var decoder: any ArrivalDecoding

  package init(
    _ control: FrameControl, header: ImageHeader, options: DecodingOptions
  ) throws(AnimatedImageError) {
    self.control = control
    decoder = try header.codec.makeArrival(control, header, options)
  }

  /// Decodes the next bytes of the frame's range.
  package func feed(_ bytes: borrowing RawSpan) {
    byteCount += bytes.byteCount
    decoder.feed(bytes)
  }
}
