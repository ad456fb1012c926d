import ZoetropeFrames

/// Stored properties of a PNG that ``AnimatedImage`` does not expose: the pixel format, and the positions of chunks.
struct PNGStructure: Hashable, Sendable {
  let bitDepth: Int
  let isGrey: Bool
  let hasPalette: Bool
  /// Whether the image is RGB or grey and declares one colour transparent.
  let isKeyed: Bool
  /// Whether the transparent colour is black.
  let isBlackKeyed: Bool
  /// Whether any pixel may be transparent.
  let hasAlpha: Bool
  /// The first palette entry, or 0 if there is no palette.
  let firstColor: UInt32
  /// The index of the first frame that has another chunk between its fcTL chunk and its data, or nil if there is none.
  private(set) var interruptedFrame: Int?
  /// The name of the first chunk with a wrong checksum before the pixels, or nil if there is none.
  private(set) var wrongChecksum: String?

  /// Reads the chunks of `image`. Decodes no pixels.
  init(_ image: AnimatedImage) throws(AnimatedImageError) {
    let header = image.header
    bitDepth = Int(header.bitDepth)
    isGrey = header.colorType == 0
    hasPalette = header.colorType == 3
    isKeyed = !header.transparency.isEmpty
    isBlackKeyed = isKeyed && header.transparency.allSatisfy { $0 == 0 }
    hasAlpha =
      header.colorType & 4 != 0 || isKeyed || header.palette.contains { $0 >> 24 != 255 }
    firstColor = header.palette.first ?? 0
    var cursor = ByteCursor(image)
    cursor.offset = 8
    var frame = -1
    var isBehindControl = false
    var isBeforePixels = true
    while interruptedFrame == nil || isBeforePixels, let start = try cursor.next(8) {
      let length = start[..<4].reduce(0) { $0 << 8 | Int($1) }
      let name = String(decoding: start[4...], as: UTF8.self)
      switch name {
      case "fcTL":
        frame += 1
        isBehindControl = true
      case "IDAT", "fdAT": (isBehindControl, isBeforePixels) = (false, false)
      default: if isBehindControl, interruptedFrame == nil { interruptedFrame = frame }
      }
      if isBeforePixels, wrongChecksum == nil {
        if try !cursor.skipChunk(named: start[4...], length: length) { wrongChecksum = name }
      } else {
        cursor.offset += length + 4
      }
    }
  }
}

extension ByteCursor {
  /// Skips the data and the checksum of a chunk. Returns whether the checksum is correct.
  fileprivate mutating func skipChunk(
    named name: ArraySlice<UInt8>, length: Int
  ) throws(AnimatedImageError) -> Bool {
    var sum = CRC32.of(name)
    let end = offset + length
    while offset < end, let bytes = try next(min(end - offset, 1 << 16)) {
      sum = CRC32.of(bytes[...], after: sum)
    }
    guard offset == end, let stored = try next(4) else { return false }
    return stored.reduce(0) { $0 << 8 | UInt32($1) } == sum
  }
}
