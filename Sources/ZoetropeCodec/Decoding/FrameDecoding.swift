/// Decodes the compressed bytes of one frame into pixels.
///
/// A pure function of the frame's bytes and the shared header, so frames decode on several threads
/// concurrently. Each thread has its own decoder, which may keep scratch memory.
package protocol FrameDecoding: Sendable {
  /// Decodes `control` from `bytes`, the bytes of `control.byteRange`.
  ///
  /// Fills `pixels`; rows that cannot be decoded are reported in its `damage` and `validPixels`.
  /// Throws only errors that stop the whole animation: exceeded limits and cancelling.
  mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan,
    into pixels: FramePixels
  ) throws(AnimatedImageError)
}

/// How much of an arriving frame is decoded.
package struct ArrivalProgress: Sendable, Hashable {
  /// Final rows from the top; none before the last pass of an interlaced frame.
  package var completeRows = 0
  /// Rows from the top that show something of the frame.
  package var shownRows = 0
  /// Complete passes; a frame that is not interlaced has one.
  package var completePasses = 0

  package init(completeRows: Int = 0, shownRows: Int = 0, completePasses: Int = 0) {
    self.completeRows = completeRows
    self.shownRows = shownRows
    self.completePasses = completePasses
  }
}

/// Decodes one frame whose bytes are still arriving, each byte once.
///
/// The rows so far equal those that ``FrameDecoding`` returns for the same bytes. In an interlaced frame, each
/// row or pixel fills its block.
package protocol ArrivalDecoding {
  /// The part of the frame that can be drawn.
  var pixels: FramePixels { get }
  /// How much of it has arrived.
  var progress: ArrivalProgress { get }
  /// Decodes the next bytes of the frame's range; ignores them once the frame is complete or damaged.
  mutating func feed(_ bytes: borrowing RawSpan)
}
