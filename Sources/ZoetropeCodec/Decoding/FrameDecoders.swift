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
