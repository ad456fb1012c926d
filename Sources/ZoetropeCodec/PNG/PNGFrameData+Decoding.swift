/// What both PNG decoders do before and after the pixels.
extension PNGFrameData {
  /// Collects the data of `control` and readies `pixels`; false for a frame without pixels.
  mutating func begin(
    _ control: FrameControl, bytes: borrowing RawSpan, into pixels: FramePixels
  ) throws(AnimatedImageError) -> Bool {
    try collect(bytes)
    pixels.resetForPNG(control.rect.size)
    return !control.rect.isEmpty
  }

  /// Has libpng decode the stream; `bytes` are those it began with.
  func decodeByLibpng(
    _ bytes: borrowing RawSpan, header: ImageHeader, keeps16Bit: Bool, into pixels: FramePixels
  ) throws(AnimatedImageError) -> PNGEnding {
    try unsafe withBytes(of: bytes) { stream in
      unsafe PNGGuard.decode(stream, header: header, keeps16Bit: keeps16Bit, into: pixels)
    }.get()
  }

  /// Notes in `pixels` what was wrong.
  func report(
    _ ending: PNGEnding, of control: FrameControl, byteCount: Int, in pixels: FramePixels
  ) {
    pixels.damage =
      PNGDamage(ending: ending, data: self, control: control, byteCount: byteCount).damage
  }
}
