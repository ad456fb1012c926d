/// One thread's means to decode: a decoder and memory for compressed bytes.
package struct FrameWorker: Sendable {
  private var decoder: any FrameDecoding
  private var scratch: [UInt8] = []

  package init(header: ImageHeader, options: DecodingOptions) {
    decoder = FrameDecoders.make(header: header, options: options)
  }

  /// Decodes `control` of `image` into `pixels`.
  package mutating func decode(
    _ control: FrameControl, header: ImageHeader, source: any ByteSource, into pixels: FramePixels
  ) throws(AnimatedImageError) {
    // Taken out for the call: the closure borrows `self` for its decoder.
    var scratch: [UInt8] = []
    swap(&scratch, &self.scratch)
    defer { swap(&scratch, &self.scratch) }
    try source.withBytes(in: control.byteRange, scratch: &scratch) {
      (bytes) throws(AnimatedImageError) in
      try decoder.decode(control, header: header, bytes: bytes, into: pixels)
    }
  }

  /// Decodes a claimed frame.
  mutating func decode(
    _ claim: DecodeClaim, in ahead: DecodeAhead
  ) -> Result<Void, AnimatedImageError> {
    do {
      try decode(
        ahead.frames[claim.index], header: ahead.header, source: ahead.source, into: claim.pixels)
      return .success(())
    } catch {
      return .failure(error)
    }
  }
}
