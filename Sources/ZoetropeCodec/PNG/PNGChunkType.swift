/// The four letters that name a chunk, as one number.
struct PNGChunkType: Sendable, Hashable {
  let code: UInt32

  init(code: UInt32) { self.code = code }

  private init(_ name: StaticString) {
    var code: UInt32 = 0
    name.description.utf8.forEach { code = code << 8 | UInt32($0) }
    self.code = code
  }

  /// Whether a decoder that does not know the chunk must give up (5.4: bit 5 of the first byte).
  var isCritical: Bool { code & 0x2000_0000 == 0 }

  /// The letters; other bytes are shown as `?`.
  var name: String {
    let letters = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) }
    return String(
      decoding: letters.map { (65...90).contains($0 & 0xdf) ? $0 : UInt8(ascii: "?") },
      as: UTF8.self)
  }

  static let header = PNGChunkType("IHDR")
  /// Before IHDR in files that Xcode has converted for iPhones: raw deflate data, premultiplied BGRA.
  static let appleHeader = PNGChunkType("CgBI")
  static let palette = PNGChunkType("PLTE")
  static let transparency = PNGChunkType("tRNS")
  static let imageData = PNGChunkType("IDAT")
  static let end = PNGChunkType("IEND")
  static let animationControl = PNGChunkType("acTL")
  static let frameControl = PNGChunkType("fcTL")
  static let frameData = PNGChunkType("fdAT")
  static let gamma = PNGChunkType("gAMA")
  static let chromaticities = PNGChunkType("cHRM")
  static let srgb = PNGChunkType("sRGB")
  static let iccProfile = PNGChunkType("iCCP")
  static let cicp = PNGChunkType("cICP")
  static let pixelDensity = PNGChunkType("pHYs")
  static let exif = PNGChunkType("eXIf")
  static let text = PNGChunkType("tEXt")
  static let compressedText = PNGChunkType("zTXt")
  static let internationalText = PNGChunkType("iTXt")

  /// Chunks whose data the scanner reads; the others are passed over.
  static let collected: Set<PNGChunkType> = [
    header, palette, transparency, animationControl, frameControl, gamma, chromaticities, srgb,
    iccProfile, cicp, pixelDensity, exif, text, compressedText, internationalText,
  ]
}
