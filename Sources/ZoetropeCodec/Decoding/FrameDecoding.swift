/// Turns the compressed bytes of one frame into pixels.
///
/// A pure function of the frame's bytes and the header that it inherits, so frames decode on several
/// threads at once. Each thread has a decoder of its own, which may keep scratch memory.
package protocol FrameDecoding: Sendable {
  /// Decodes `control` from `bytes`, the bytes of `control.byteRange`.
  ///
  /// Fills `pixels`; rows that cannot be decoded are reported in its `damage` and `validPixels`.
  /// Throws only what stops the whole animation: limits and cancelling.
  mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan,
    into pixels: FramePixels
  ) throws(AnimatedImageError)
}
