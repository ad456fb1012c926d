/// Chooses the decoder for a file.
package enum FrameDecoders {
  /// A decoder of its own for one thread.
  package static func make(
    header: ImageHeader, options: DecodingOptions
  ) -> any FrameDecoding {
    switch (header.format, options.decoder) {
    case (.gif, _): GIFReferenceDecoder()
    case (.png, _), (.apng, _): GIFReferenceDecoder()
    }
  }
}
