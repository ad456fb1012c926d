/// A decoder for the frames of a file, used by one thread, with a buffer for compressed bytes.
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
    // The buffer is moved out of `self` for the call, because the closure accesses `self` to use the decoder.
    var buffer = ReadBuffer()
    swap(&buffer, &self.buffer)
    defer { swap(&buffer, &self.buffer) }
    try source.withBytes(in: control.byteRange, buffer: &buffer) {
      (bytes) throws(AnimatedImageError) in
      try decoder.decode(control, header: header, bytes: bytes, into: pixels)
    }
  }
}
