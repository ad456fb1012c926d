/// Decodes the compressed bytes of one frame into pixels.
///
/// A pure function of the frame's bytes and the shared header, so frames decode on several threads
/// concurrently. Each thread has its own decoder, which may keep scratch memory.
package protocol FrameDecoding: Sendable {
  /// Decodes `control` from `bytes`, the bytes of `control.byteRange`.
  ///
  /// Fills `pixels`, whose `damage` and `validPixels` report rows that cannot be decoded. Throws
  /// only errors that stop the whole animation: exceeded limits and cancellation.
  mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan,
    into pixels: FramePixels
  ) throws(AnimatedImageError)
}

/// How much of an arriving frame has been decoded.
package struct ArrivalProgress: Sendable, Hashable {
  /// The number of rows from the top that are final. 0 before the last pass of an interlaced frame.
  package var completeRows = 0
  /// The number of rows from the top that show any part of the frame.
  package var shownRows = 0
  /// The number of complete passes. A frame that is not interlaced has one pass.
  package var completePasses = 0

  package init(completeRows: Int = 0, shownRows: Int = 0, completePasses: Int = 0) {
    self.completeRows = completeRows
    self.shownRows = shownRows
    self.completePasses = completePasses
  }
}

/// Decodes one frame whose bytes are still arriving, each byte once.
///
/// The rows decoded so far equal those that ``FrameDecoding`` produces for the same bytes. In an interlaced frame, each
/// row or pixel fills its block.
package protocol ArrivalDecoding {
  /// The part of the frame that can be drawn.
  var pixels: FramePixels { get }
  /// How much of the frame has been decoded.
  var progress: ArrivalProgress { get }
  /// Decodes the next bytes of the frame's range. Ignores them once the frame is complete or damaged.
  mutating func feed(_ bytes: borrowing RawSpan)
}
