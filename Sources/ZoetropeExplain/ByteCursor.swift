import ZoetropeFrames

/// A cursor that reads the bytes of an image's file one by one, and loads them in blocks.
struct ByteCursor {
  private static let blockSize = 1 << 16

  private let image: AnimatedImage
  private var buffer = ReadBuffer()
  private var block: [UInt8] = []
  private var blockStart = 0
  /// The offset of the next byte.
  var offset = 0

  init(_ image: AnimatedImage) { self.image = image }

  /// Returns the next byte, or nil at the end of the file.
  mutating func next() throws(AnimatedImageError) -> UInt8? {
    if offset < blockStart || offset >= blockStart + block.count {
      guard offset < image.byteCount else { return nil }
      blockStart = offset
      block = try image.source.withBytes(
        in: offset..<min(offset + Self.blockSize, image.byteCount), buffer: &buffer
      ) { (bytes) throws(AnimatedImageError) in
        var copy: [UInt8] = []
        copy.append(copying: bytes)
        return copy
      }
      if block.isEmpty { return nil }
    }
    offset += 1
    return block[offset - 1 - blockStart]
  }

  /// Returns the next `count` bytes, or nil if fewer are left.
  mutating func next(_ count: Int) throws(AnimatedImageError) -> [UInt8]? {
    var bytes: [UInt8] = []
    for _ in 0..<count {
      guard let byte = try next() else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
