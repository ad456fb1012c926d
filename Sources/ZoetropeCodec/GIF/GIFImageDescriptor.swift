/// An image descriptor (GIF89a section 20), without its separator.
///
///     size  field
///        8  left, top, width, height
///        1  flags: bit 7 local palette, bit 6 interlace, bits 0...2 size of the palette
struct GIFImageDescriptor {
  let rect: PixelRect
  /// Entries of the frame's own palette, 0 when it has none.
  let paletteCount: Int
  let isInterlaced: Bool

  /// Bytes of one.
  static let size = 9

  /// Reads the one at `offset` of `bytes`, which holds all of it.
  init(_ bytes: borrowing RawSpan, at offset: Int) {
    // Any bit pattern is a number; the load checks its bounds.
    let numbers = unsafe UInt64(
      littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    rect = PixelRect(
      x: Int(numbers & 0xffff), y: Int(numbers >> 16 & 0xffff), width: Int(numbers >> 32 & 0xffff),
      height: Int(numbers >> 48))
    let flags = bytes[offset + 8]
    paletteCount = flags & 0x80 != 0 ? 2 << Int(flags & 7) : 0
    isInterlaced = flags & 0x40 != 0
  }
}
