/// Decodes frames with libpng and zlib: any colour type, depth and interlacing.
///
/// The pixels are 8-bit RGBA, or 16-bit if the frame has 16 bits and they are requested.
package struct PNGReferenceDecoder: FrameDecoding {
  package let keeps16Bit: Bool
  private var data = PNGStreamAssembler()

  package init(keeps16Bit: Bool = false) { self.keeps16Bit = keeps16Bit }

  package mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan,
    into pixels: FramePixels
  ) throws(AnimatedImageError) {
    guard try data.begin(control, bytes: bytes, into: pixels) else { return }
    let outcome = try data.decodeByLibpng(
      bytes, header: header, keeps16Bit: keeps16Bit, into: pixels)
    pixels.damage = outcome.damage(of: control, in: data, byteCount: bytes.byteCount)
  }
}
