/// A type that decodes the compressed bytes of frames into pixels.
///
/// The pixels depend only on the frame's bytes and the shared header, so several threads can decode frames
/// concurrently. Each thread has its own decoder, which may keep scratch memory.
package protocol FrameDecoding: Sendable {
  /// Decodes the frame `control` from `bytes`, which are the file's bytes in `control.byteRange`.
  ///
  /// Stores the decoded rows in `pixels`, whose `damage` and `validPixels` report which rows could not be decoded.
  /// Throws only errors that stop the whole animation, such as an exceeded limit or a failed allocation.
  mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan,
    into pixels: FramePixels
  ) throws(AnimatedImageError)
}

/// A type that decodes one frame while its bytes are still arriving. Each byte is decoded once.
///
/// The rows decoded so far equal those that ``FrameDecoding`` produces for the same bytes. In an interlaced frame, each
/// decoded row or pixel also fills its block: the rows or pixels that later passes will replace.
package protocol ArrivalDecoding {
  /// The pixels decoded so far, which can be drawn.
  var pixels: FramePixels { get }
  /// How much of the frame has been decoded.
  var progress: ArrivalProgress { get }
  /// Decodes `bytes`, the next bytes of the frame's byte range. Ignores them if the frame is already complete or
  /// damaged.
  mutating func feed(_ bytes: borrowing RawSpan)
}
