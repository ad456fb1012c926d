/// One thread's means to decode: a decoder and memory for compressed bytes.
struct FrameWorker: Sendable {
  private var decoder: any FrameDecoding
  private var scratch: [UInt8] = []

  init(header: ImageHeader, options: DecodingOptions) {
    decoder = FrameDecoders.make(header: header, options: options)
  }

  /// Decodes `record` of `image` into `pixels`.
  mutating func decode(
    _ record: FrameRecord, header: ImageHeader, source: any ByteSource, into pixels: FramePixels
  ) throws(AnimatedImageError) {
    // Taken out for the call: the closure borrows `self` for its decoder.
    var scratch: [UInt8] = []
    swap(&scratch, &self.scratch)
    defer { swap(&scratch, &self.scratch) }
    try source.withBytes(in: record.control.byteRange, scratch: &scratch) {
      (bytes) throws(AnimatedImageError) in
      try decoder.decode(record, header: header, bytes: bytes, into: pixels)
    }
  }

  /// Decodes a claimed frame.
  mutating func decode(
    _ claim: DecodeClaim, in ahead: DecodeAhead
  ) -> Result<Void, AnimatedImageError> {
    do {
      try decode(
        ahead.records[claim.index], header: ahead.header, source: ahead.source, into: claim.pixels)
      return .success(())
    } catch {
      return .failure(error)
    }
  }
}
