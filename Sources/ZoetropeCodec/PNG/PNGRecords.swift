/// The four-letter type of a chunk, as a number.
///
/// The known types are literals. Each chunk is compared with several of them. If they were computed constants, each
/// comparison would first check whether the constant is initialized.
struct PNGChunkType: Sendable, Hashable {
  let code: UInt32

  init(code: UInt32) { self.code = code }

  /// Whether a decoder that does not know the chunk must stop. Bit 5 of the type's first byte is then clear (5.4).
  var isCritical: Bool { code & 0x2000_0000 == 0 }

  /// The four letters of the type. Bytes that are not letters are shown as `?`.
  var name: String {
    let letters = code.bigEndianBytes.map { (65...90).contains($0 & 0xdf) ? $0 : UInt8(ascii: "?") }
    return String(decoding: letters, as: UTF8.self)
  }

  static let header = PNGChunkType(code: 0x4948_4452)  // IHDR
  /// A chunk that precedes IHDR in files that Xcode converted for iPhones. Such files contain raw deflate data and
  /// premultiplied BGRA pixels.
  static let appleHeader = PNGChunkType(code: 0x4367_4249)  // CgBI
  static let palette = PNGChunkType(code: 0x504c_5445)  // PLTE
  static let transparency = PNGChunkType(code: 0x7452_4e53)  // tRNS
  static let imageData = PNGChunkType(code: 0x4944_4154)  // IDAT
  static let end = PNGChunkType(code: 0x4945_4e44)  // IEND
  static let animationControl = PNGChunkType(code: 0x6163_544c)  // acTL
  static let frameControl = PNGChunkType(code: 0x6663_544c)  // fcTL
  static let frameData = PNGChunkType(code: 0x6664_4154)  // fdAT
  static let gamma = PNGChunkType(code: 0x6741_4d41)  // gAMA
  static let chromaticities = PNGChunkType(code: 0x6348_524d)  // cHRM
  static let srgb = PNGChunkType(code: 0x7352_4742)  // sRGB
  static let iccProfile = PNGChunkType(code: 0x6943_4350)  // iCCP
  static let cicp = PNGChunkType(code: 0x6349_4350)  // cICP
  static let pixelDensity = PNGChunkType(code: 0x7048_5973)  // pHYs
  static let exif = PNGChunkType(code: 0x6558_4966)  // eXIf
  static let text = PNGChunkType(code: 0x7445_5874)  // tEXt
  static let compressedText = PNGChunkType(code: 0x7a54_5874)  // zTXt
  static let internationalText = PNGChunkType(code: 0x6954_5874)  // iTXt

  /// Whether the scanner reads the data of chunks of this type. It skips the data of other chunks.
  var isCollected: Bool {
    switch self {
    case .header, .palette, .transparency, .animationControl, .frameControl, .gamma,
      .chromaticities, .srgb, .iccProfile, .cicp, .pixelDensity, .exif, .text, .compressedText,
      .internationalText:
      true
    default: false
    }
  }
}

/// The CRC-32 of the type and data of a chunk (PNG 3rd edition, 5.3).
enum ChunkCRC {
  static func compute(type: PNGChunkType, data: [UInt8]) -> UInt32 {
    CRC32.of(data.rawBytes, after: CRC32.of(type.code.bigEndianBytes.rawBytes))
  }
}

/// An error that describes how a chunk violates the specification.
struct PNGFault: Error {
  let detail: String

  init(_ detail: String) { self.detail = detail }
}

/// The contents of an IHDR chunk (PNG 3rd edition, 11.2.1).
///
///     size  field
///        4  width, 1 to 2³¹ − 1
///        4  height, 1 to 2³¹ − 1
///        1  bit depth: 1, 2, 4, 8 or 16
///        1  colour type: 0 grey, 2 RGB, 3 palette, 4 grey + alpha, 6 RGB + alpha
///        1  compression method, 0
///        1  filter method, 0
///        1  interlace method: 0 none, 1 Adam7
struct PNGHeader: Sendable {
  let size: PixelSize
  let bitDepth: UInt8
  let colorType: UInt8
  let isInterlaced: Bool

  /// Parses the data of an IHDR chunk.
  ///
  /// - Throws: ``PNGFault`` if a field has a value that the specification forbids.
  init(parsing bytes: [UInt8]) throws(PNGFault) {
    guard bytes.count == 13 else { throw PNGFault("IHDR has \(bytes.count) bytes instead of 13") }
    let width = bytes.bigEndian32(at: 0)
    let height = bytes.bigEndian32(at: 4)
    guard (1...0x7fff_ffff).contains(width), (1...0x7fff_ffff).contains(height) else {
      throw PNGFault("IHDR declares an invalid size of \(width)x\(height)")
    }
    size = PixelSize(width: Int(width), height: Int(height))
    bitDepth = bytes[8]
    colorType = bytes[9]
    let depths: [UInt8]
    switch colorType {
    case 0: depths = [1, 2, 4, 8, 16]
    case 3: depths = [1, 2, 4, 8]
    case 2, 4, 6: depths = [8, 16]
    default: throw PNGFault("IHDR declares the unknown colour type \(colorType)")
    }
    guard depths.contains(bitDepth) else {
      throw PNGFault(
        "IHDR declares colour type \(colorType) with an invalid bit depth of \(bitDepth)")
    }
    guard bytes[10] == 0, bytes[11] == 0, bytes[12] <= 1 else {
      throw PNGFault(
        "IHDR declares an unknown method: compression \(bytes[10]), filtering \(bytes[11]), "
          + "interlacing \(bytes[12])")
    }
    isInterlaced = bytes[12] == 1
  }
}

/// The contents of an fcTL chunk (PNG 3rd edition, 11.3.6.2).
///
///     size  field
///        4  sequence number
///       16  width, height, x offset, y offset
///        4  delay numerator and denominator (0 means 100)
///        2  disposal: 0 none, 1 background, 2 previous; blend: 0 source, 1 over
struct PNGFrameControl: Sendable {
  let rect: PixelRect
  let delay: FrameDelay
  let disposal: DisposalMethod
  let blend: BlendOperation

  /// Parses the data of an fcTL chunk.
  ///
  /// - Throws: ``PNGFault`` if the byte count or the sequence number is wrong, the rectangle is empty or extends past the
  ///   canvas, or the disposal or blend operation is unknown.
  init(parsing bytes: [UInt8], sequence: Int, canvas: PixelSize) throws(PNGFault) {
    guard bytes.count == 26 else {
      throw PNGFault("an fcTL chunk has \(bytes.count) bytes instead of 26")
    }
    let number = Int(bytes.bigEndian32(at: 0))
    guard number == sequence else {
      throw PNGFault("an fcTL chunk has sequence number \(number) instead of \(sequence)")
    }
    rect = PixelRect(
      x: Int(bytes.bigEndian32(at: 12)), y: Int(bytes.bigEndian32(at: 16)),
      width: Int(bytes.bigEndian32(at: 4)), height: Int(bytes.bigEndian32(at: 8)))
    guard !rect.isEmpty, PixelRect(canvas).contains(rect) else {
      throw PNGFault("an fcTL chunk has an invalid frame of \(rect) on a canvas of \(canvas)")
    }
    delay = FrameDelay(
      numerator: UInt32(bytes.bigEndian16(at: 20)), denominator: UInt32(bytes.bigEndian16(at: 22)))
    guard let disposal = DisposalMethod(rawValue: bytes[24]) else {
      throw PNGFault("an fcTL chunk has the unknown disposal method \(bytes[24])")
    }
    guard let blend = BlendOperation(rawValue: bytes[25]) else {
      throw PNGFault("an fcTL chunk has the unknown blend operation \(bytes[25])")
    }
    (self.disposal, self.blend) = (disposal, blend)
  }
}

extension ImageHeader {
  /// Whether these values can come from an IHDR chunk, and the transparent colour from a tRNS chunk. This is checked
  /// for a header that was read from a stored index rather than scanned from a file.
  package var isPossibleInPNG: Bool {
    guard (1...0x7fff_ffff).contains(canvasSize.width),
      (1...0x7fff_ffff).contains(canvasSize.height)
    else { return false }
    let sides = [canvasSize.width, canvasSize.height].flatMap { UInt32($0).bigEndianBytes }
    let bytes = sides + [bitDepth, colorType, 0, 0, isInterlaced ? 1 : 0]
    let keyCount = [0: 2, 2: 6][colorType] ?? 0
    return (try? PNGHeader(parsing: bytes)) != nil
      && (transparency.isEmpty || transparency.count == keyCount)
  }
}
