import Zoetrope

/// What a PNG stores that its frames do not tell: the layout of its pixels, and where chunks lie.
struct PNGStructure: Hashable, Sendable {
  let bitDepth: Int
  let isGrey: Bool
  let hasPalette: Bool
  /// Whether RGB or grey has a transparent colour.
  let isKeyed: Bool
  /// Whether any pixel may be transparent.
  let hasAlpha: Bool
  /// The first palette entry; 0 without a palette.
  let firstColor: UInt32
  /// The first frame with another chunk between its control and its data.
  private(set) var interruptedFrame: Int?

  /// Reads the chunks of `image`. Decodes no pixels.
  init(_ image: AnimatedImage) throws(AnimatedImageError) {
    let header = image.header
    bitDepth = Int(header.bitDepth)
    isGrey = header.colorType == 0
    hasPalette = header.colorType == 3
    isKeyed = !header.transparency.isEmpty
    hasAlpha =
      header.colorType & 4 != 0 || isKeyed || header.palette.contains { $0 >> 24 != 255 }
    firstColor = header.palette.first ?? 0
    var cursor = ByteCursor(image)
    cursor.offset = 8
    var frame = -1
    var isBehindControl = false
    while interruptedFrame == nil, let start = try cursor.next(8) {
      let length = start[..<4].reduce(0) { $0 << 8 | Int($1) }
      switch String(decoding: start[4...], as: UTF8.self) {
      case "fcTL":
        frame += 1
        isBehindControl = true
      case "IDAT", "fdAT": isBehindControl = false
      default: if isBehindControl { interruptedFrame = frame }
      }
      cursor.offset += length + 4
    }
  }
}
