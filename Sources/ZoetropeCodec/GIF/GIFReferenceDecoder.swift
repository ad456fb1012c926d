/// Decodes GIF frames with giflib's decompressor. It is slower than ``GIFFastDecoder`` and serves as the reference in
/// comparisons.
///
/// giflib reports only complete rows, so a damaged frame keeps only the complete rows before the damage.
package struct GIFReferenceDecoder: FrameDecoding {
  /// The frame's bytes with a terminated block structure, which giflib requires.
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
    // Memory is needed for the bytes and for a copy of them up to the terminator.
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

  /// Returns the frame's bytes with a block terminator. If the last sub-block is truncated, its length byte is reduced
  /// to the number of bytes available. Without a terminator, giflib would reject even complete pixels.
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
  /// The damage of a frame for which giflib stopped before the last row. The reason is not known.
  static let gifReferenceRows = Damage.Kind("gif.lzw.reference", isTolerated: false)
}
