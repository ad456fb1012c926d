/// Decodes GIF frames with giflib's own decompressor. It is slower than ``GIFFastDecoder`` and
/// serves as its reference.
///
/// giflib reports only complete rows, so a damaged frame keeps whole rows.
package struct GIFReferenceDecoder: FrameDecoding {
  /// The frame's bytes with a properly terminated block structure, as giflib requires.
  private var frame: [UInt8] = []

  package init() {}

  package mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan, into pixels: FramePixels
  ) throws(AnimatedImageError) {
    let paletteEnd = min(10 + control.localPaletteCount * 3, bytes.byteCount)
    pixels.prepare(
      control, header: header, localPalette: bytes.extracting(min(10, paletteEnd)..<paletteEnd))
    pixels.content.offset = 0
    pixels.content.bytesPerRow = pixels.content.width
    let rect = control.rect
    guard !rect.isEmpty else { return }
    frame = []
    // Space for the bytes and for a copy of them up to the terminator.
    try PixelMemory.require(2 * bytes.byteCount)
    frame = Self.closed(bytes, localPaletteCount: control.localPaletteCount)
    try pixels.reserve(byteCount: rect.size.area)
    let rows = Giflib.expand(frame, into: pixels.storage, rect.size)
    pixels.content.validPixels = rows * rect.width
    pixels.content.isOpaque = rows == rect.height && pixels.content.transparentIndex == nil
    if rows < rect.height {
      pixels.damage = Damage(
        .gifReferenceRows, "giflib read \(rows) of \(rect.height) rows",
        frameIndex: control.index, byteOffset: control.byteRange.lowerBound,
        validRows: rows)
    }
  }

  /// Returns the frame's bytes, with a truncated last sub-block shortened to its data and a
  /// terminator appended. Without a terminator, giflib rejects even complete pixels.
  private static func closed(
    _ bytes: borrowing RawSpan, localPaletteCount: Int
  ) -> [UInt8] {
    var frame = (0..<bytes.byteCount).map { bytes[$0] }
    var position = 11 + localPaletteCount * 3
    while position < frame.count, frame[position] != 0 {
      let size = Int(frame[position])
      let rest = frame.count - position - 1
      if size > rest { frame[position] = UInt8(rest) }
      position += 1 + min(size, rest)
    }
    return frame[..<min(position, frame.count)] + [0]
  }
}

extension Damage.Kind {
  /// giflib stopped before the last row, for an unknown reason.
  static let gifReferenceRows = Damage.Kind("gif.lzw.reference", isTolerated: false)
}
