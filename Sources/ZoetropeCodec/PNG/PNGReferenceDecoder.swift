/// Decodes PNG frames of any colour type, depth and interlacing with libpng and zlib.
///
/// The pixels are 8-bit RGBA, or 16-bit RGBA if the frame has 16 bits per sample and 16 bits are requested.
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
