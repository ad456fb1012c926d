/// Decodes a frame whose bytes are still arriving, each byte once.
///
/// Shows what a browser shows of it: the rows so far; of an interlaced frame, each row or pixel fills
/// the block that it stands for until later passes refine it. The rows so far are those that
/// ``FrameDecoder`` gives for the same bytes. GIF codes go through this library's own loop; PNG data
/// through libpng's progressive reader, since libdeflate takes whole streams only.
package final class ArrivingFrame {
  /// The frame. Its byte range ends where it ended when decoding began.
  package let control: FrameControl
  /// What can be drawn of it.
  package var pixels: FramePixels { decoder.pixels }
  /// How much of it is there.
  package var progress: ArrivalProgress { decoder.progress }
  /// The bytes of the frame decoded so far, counted from the start of its range.
  package private(set) var byteCount = 0
  private var decoder: any ArrivalDecoding

  /// - Throws: `outOfMemory` if allocation fails.
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
