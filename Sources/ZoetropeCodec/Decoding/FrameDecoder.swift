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

/// One thread's means to decode the frames of a file: a decoder and memory for compressed bytes.
package struct FrameDecoder: Sendable {
  private let header: ImageHeader
  private var decoder: any FrameDecoding
  private var buffer = ReadBuffer()

  package init(header: ImageHeader, options: DecodingOptions) {
    self.header = header
    let keeps16Bit = options.canvasFormat == .rgba16
    decoder =
      switch (header.format, options.decoder) {
      case (.gif, .fast): GIFFastDecoder()
      case (.gif, .reference): GIFReferenceDecoder()
      case (.png, .fast), (.apng, .fast): PNGFastDecoder(keeps16Bit: keeps16Bit)
      case (.png, .reference), (.apng, .reference): PNGReferenceDecoder(keeps16Bit: keeps16Bit)
      }
  }

  /// Decodes the frame `control` of `source` into `pixels`; see ``FrameDecoding``.
  ///
  /// - Throws: `io` when the source cannot be read, `limitExceeded` when the system has no memory.
  package mutating func decode(
    _ control: FrameControl, from source: any ByteSource, into pixels: FramePixels
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
}
