/// Decodes frames through libpng and zlib: any colour type, depth and interlacing.
///
/// The pixels are RGBA of 8 bits, or of 16 when a frame has them and they are asked for.
package struct PNGReferenceDecoder: FrameDecoding {
  /// Whether the samples of a 16-bit file keep their low byte.
  package let keeps16Bit: Bool
  private var data = PNGFrameData()

  package init(keeps16Bit: Bool = false) { self.keeps16Bit = keeps16Bit }

  package mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan,
    into pixels: FramePixels
  ) throws(AnimatedImageError) {
    guard try data.begin(control, bytes: bytes, into: pixels) else { return }
    let ending = try data.decodeByLibpng(
      bytes, header: header, keeps16Bit: keeps16Bit, into: pixels)
    data.report(ending, of: control, byteCount: bytes.byteCount, in: pixels)
  }
}
