/// One thread's decoder for the frames of a file, with a buffer for compressed bytes.
package struct FrameDecoder: Sendable {
  private let header: ImageHeader
  private var decoder: any FrameDecoding
  private var buffer = ReadBuffer()

  package init(header: ImageHeader, options: DecodingOptions) {
    self.header = header
    decoder = header.codec.makeDecoder(options)
  }

  /// Decodes the frame `control` of `source` into `pixels`. See ``FrameDecoding``.
  ///
  /// - Throws: `io` if the source cannot be read, `outOfMemory` if allocation fails.
  package mutating func decode(
    _ control: FrameControl, from source: any ByteSource, into pixels: FramePixels
  ) throws(AnimatedImageError) {
    // Moved out for the call: the closure borrows `self` for its decoder.
    var buffer = ReadBuffer()
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    try source.withBytes(in: control.byteRange, buffer: &buffer) {
      (bytes) throws(AnimatedImageError) in
      try decoder.decode(control, header: header, bytes: bytes, into: pixels)
    }
  }
}
