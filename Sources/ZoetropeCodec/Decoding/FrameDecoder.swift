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

/// Chooses the decoder for a file.
package enum FrameDecoders {
  /// A decoder of its own for one thread.
  package static func make(
    header: ImageHeader, options: DecodingOptions
  ) -> any FrameDecoding {
    let keeps16Bit = options.canvasFormat == .rgba16
    return switch (header.format, options.decoder) {
    case (.gif, .fast): GIFFastDecoder()
    case (.gif, .reference): GIFReferenceDecoder()
    case (.png, .fast), (.apng, .fast): PNGFastDecoder(keeps16Bit: keeps16Bit)
    case (.png, .reference), (.apng, .reference): PNGReferenceDecoder(keeps16Bit: keeps16Bit)
    }
  }
}

/// One thread's means to decode: a decoder and memory for compressed bytes.
package struct FrameWorker: Sendable {
  private var decoder: any FrameDecoding
  private var buffer = ReadBuffer()

  package init(header: ImageHeader, options: DecodingOptions) {
    decoder = FrameDecoders.make(header: header, options: options)
  }

  /// Decodes `control` of `image` into `pixels`.
  package mutating func decode(
    _ control: FrameControl, header: ImageHeader, source: any ByteSource, into pixels: FramePixels
  ) throws(AnimatedImageError) {
    // Taken out for the call: the closure borrows `self` for its decoder.
    var buffer = ReadBuffer()
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    try source.withBytes(in: control.byteRange, buffer: &buffer) {
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
