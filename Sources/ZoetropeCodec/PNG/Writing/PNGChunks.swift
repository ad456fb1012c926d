/// The bytes of a PNG file, built chunk by chunk.
package struct PNGChunks {
  /// The maximum number of data bytes in one chunk. A picture of noise can exceed it even when compressed.
  static let dataLimit = 0x7fff_ffff

  package private(set) var bytes: [UInt8]

  package init(capacity: Int = 0) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// Does the same as ``init(capacity:)``, for a capacity that depends on a picture.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  package init(asking capacity: Int) throws(AnimatedImageError) {
    bytes = []
    try bytes.makeRoom(adding: capacity)
  }

  mutating func append(raw: [UInt8]) { bytes += raw }

  /// Appends a chunk, which consists of a length, a type, data and a CRC.
  package mutating func append(_ type: StaticString, _ data: [UInt8]) {
    open(type, count: data.count)
    bytes += data
    close(count: data.count)
  }

  /// Appends a chunk whose data is `head` followed by `data`.
  mutating func append(_ type: StaticString, _ head: [UInt8], _ data: ArraySlice<UInt8>) {
    open(type, count: head.count + data.count)
    bytes += head
    bytes += data
    close(count: head.count + data.count)
  }

  /// Appends `data`, which must not be empty, split into as many chunks as needed.
  ///
  /// - Parameter limit: The maximum number of data bytes in one chunk.
  mutating func append(_ type: StaticString, _ data: [UInt8], limit: Int) {
    for start in stride(from: 0, to: data.count, by: limit) {
      append(type, [], data[start..<min(start + limit, data.count)])
    }
  }

  /// Appends the first `count` bytes of `storage`, at least one, split into as many chunks as needed.
  ///
  /// - Parameter limit: The maximum number of data bytes in one chunk.
  mutating func append(
    _ type: StaticString, _ storage: PixelStorage, count: Int, limit: Int
  ) {
    for start in stride(from: 0, to: count, by: limit) {
      let size = min(limit, count - start)
      open(type, count: size)
      bytes.append(copying: storage.bytes.extracting(start..<start + size))
      close(count: size)
    }
  }

  /// Appends the acTL chunk of an APNG with `frameCount` frames.
  package mutating func append(frameCount: Int, _ playCount: PlayCount) {
    let plays: UInt32 =
      switch playCount {
      case .indefinite: 0
      case .finite(let count): UInt32(clamping: count)
      }
    append("acTL", UInt32(clamping: frameCount).bigEndianBytes + plays.bigEndianBytes)
  }

  /// Appends the IHDR chunk for a picture that is not interlaced.
  mutating func append(header size: PixelSize, _ form: PNGForm) {
    append(
      "IHDR",
      UInt32(size.width).bigEndianBytes + UInt32(size.height).bigEndianBytes
        + [UInt8(form.bitDepth), form.colorType.rawValue, 0, 0, 0])
  }

  /// Appends the chunks that lie between IHDR and the first pixels. They contain the colour space, the palette, the
  /// transparency and the other metadata.
  ///
  /// - Parameter key: The data of tRNS, or nil if there is no transparent colour. It is used only if `table` is nil.
  mutating func append(
    _ metadata: PNGMetadataChunks, _ form: PNGForm, _ table: ColorTable?, key: [UInt8]? = nil
  ) {
    append(raw: metadata.color)
    if form.colorType.isGrey == metadata.profileIsGrey { append(raw: metadata.profile) }
    if let table, form.colorType == .palette {
      append("PLTE", table.paletteBytes)
      if table.translucentCount > 0 { append("tRNS", table.transparencyBytes) }
    } else if let key {
      append("tRNS", key)
    }
    append(raw: metadata.other)
  }

  private mutating func open(_ type: StaticString, count: Int) {
    append(UInt32(count))
    precondition(type.utf8CodeUnitCount == 4)
    bytes += Array(type.description.utf8)
  }

  private mutating func close(count: Int) {
    // The CRC covers the type and the data, which were appended last.
    append(CRC32.of(bytes.rawBytes.extracting(last: count + 4)))
  }

  private mutating func append(_ value: UInt32) { bytes += value.bigEndianBytes }
}

/// Numbers the chunks of an APNG's frames, and appends them. A single counter numbers all fcTL and fdAT chunks (PNG 3rd
/// edition, 4.9.2).
package struct APNGFrameChunks {
  /// Whether the next frame is also the static image, so that its data goes into IDAT chunks.
  package private(set) var isStatic: Bool
  private var sequence: UInt32 = 0
  /// The maximum number of data bytes in one chunk. The default is PNG's limit.
  var dataLimit = PNGChunks.dataLimit

  package init(beginsWithStaticImage: Bool) { isStatic = beginsWithStaticImage }

  /// Returns whether a copied fdAT chunk that begins with `number` can stay as it is. If it can, its number counts as
  /// used.
  package mutating func keepsNumber(_ number: [UInt8]) -> Bool {
    guard number == sequence.bigEndianBytes else { return false }
    sequence &+= 1
    return true
  }

  /// Returns the number of the next chunk, and counts it as used.
  package mutating func nextNumber() -> UInt32 {
    defer { sequence &+= 1 }
    return sequence
  }

  /// Appends the fcTL chunk of the next frame (11.3.6.2).
  package mutating func appendControl(
    _ rect: PixelRect, _ delay: FrameDelay, _ disposal: DisposalMethod, _ blend: BlendOperation,
    to chunks: inout PNGChunks
  ) {
    let numbers = [nextNumber()] + [rect.width, rect.height, rect.x, rect.y].map { UInt32($0) }
    let times = [delay.numerator, delay.denominator].flatMap { $0.bigEndianBytes.suffix(2) }
    chunks.append(
      "fcTL", numbers.flatMap(\.bigEndianBytes) + times + [disposal.rawValue, blend.rawValue])
  }

  /// Appends the compressed pixels of the next frame, which must not be empty.
  package mutating func appendData(_ bytes: [UInt8], to chunks: inout PNGChunks) {
    if isStatic {
      chunks.append("IDAT", bytes, limit: dataLimit)
    } else {
      let limit = dataLimit - 4
      for start in stride(from: 0, to: bytes.count, by: limit) {
        let part = bytes[start..<min(start + limit, bytes.count)]
        chunks.append("fdAT", nextNumber().bigEndianBytes, part)
      }
    }
    endFrame()
  }

  /// Ends a frame whose data was appended without this type.
  package mutating func endFrame() { isStatic = false }
}

extension UInt32 {
  /// The four bytes of the number, most significant byte first, as PNG stores numbers.
  package var bigEndianBytes: [UInt8] {
    [
      UInt8(truncatingIfNeeded: self >> 24), UInt8(truncatingIfNeeded: self >> 16),
      UInt8(truncatingIfNeeded: self >> 8), UInt8(truncatingIfNeeded: self),
    ]
  }
}

/// The metadata of an animation as PNG chunks, which are written to each file.
struct PNGMetadataChunks {
  /// The chunks that must precede PLTE, except the colour profile.
  private(set) var color: [UInt8] = []
  /// The iCCP chunk, and whether its profile is for grey pictures rather than RGB.
  private(set) var profile: [UInt8] = []
  private(set) var profileIsGrey = false
  /// The chunks that must precede IDAT, and the text chunks, which in an animation Pillow finds only before IDAT.
  private(set) var other: [UInt8] = []

  /// Creates an empty set of metadata chunks.
  init() {}

  init(_ metadata: AnimationMetadata) {
    let compressor = ZlibCompressor(level: 6)
    var color = PNGChunks()
    if let cicp = metadata.cicp, cicp.count == 4 { color.append("cICP", cicp) }
    if let values = metadata.chromaticities, values.count == 8 {
      color.append("cHRM", values.flatMap(\.bigEndianBytes))
    }
    if let gamma = metadata.gamma { color.append("gAMA", gamma.bigEndianBytes) }
    if let icc = metadata.iccProfile, icc.count >= 20, let compressor {
      var chunk = PNGChunks()
      let name = Self.keyword(metadata.iccProfileName ?? "") ?? Array("ICC profile".utf8)
      chunk.append("iCCP", name + [0, 0] + compressor.compress(icc))
      profile = chunk.bytes
      profileIsGrey = Array(icc[16..<20]) == Array("GRAY".utf8)
    } else if let intent = metadata.srgbIntent, intent <= 3 {
      // A file never has both sRGB and iCCP, because the specification allows only one of the two.
      color.append("sRGB", [intent])
    }
    self.color = color.bytes
    var other = PNGChunks()
    if let density = metadata.pixelDensity {
      other.append(
        "pHYs",
        density.x.bigEndianBytes + density.y.bigEndianBytes + [density.isPerMeter ? 1 : 0])
    }
    if let exif = metadata.exif { other.append("eXIf", exif) }
    for item in metadata.texts {
      guard let key = Self.keyword(item.key) else { continue }
      Self.append(key: key, item.value, to: &other, compressor: compressor)
    }
    if let xmp = metadata.xmp {
      other.append("iTXt", Array("XML:com.adobe.xmp".utf8) + [0, 0, 0, 0, 0] + Array(xmp.utf8))
    }
    self.other = other.bytes
  }

  /// Appends a text chunk. Text that Latin-1 can represent is stored as tEXt, or as zTXt if that is shorter. Other text
  /// is stored as iTXt.
  private static func append(
    key: [UInt8], _ value: String, to chunks: inout PNGChunks, compressor: ZlibCompressor?
  ) {
    if let latin = latin1(value), !latin.contains(0) {
      let packed = packed(latin, compressor)
      if packed.count + 1 < latin.count {
        chunks.append("zTXt", key + [0, 0] + packed)
      } else {
        chunks.append("tEXt", key + [0] + latin)
      }
      return
    }
    let utf8 = Array(value.utf8.filter { $0 != 0 })
    let packed = packed(utf8, compressor)
    let isPacked = packed.count < utf8.count
    chunks.append("iTXt", key + [0, isPacked ? 1 : 0, 0, 0, 0] + (isPacked ? packed : utf8))
  }

  /// Returns `bytes` as a zlib stream if there are more than 256 bytes, and unchanged otherwise.
  private static func packed(_ bytes: [UInt8], _ compressor: ZlibCompressor?) -> [UInt8] {
    guard bytes.count > 256, let compressor else { return bytes }
    return compressor.compress(bytes)
  }

  private static func latin1(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      guard let byte = UInt8(exactly: scalar.value) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// Returns `text` as a PNG keyword, or nil if it is not valid. A keyword has 1 to 79 printable Latin-1 bytes, without
  /// leading, trailing or consecutive spaces.
  private static func keyword(_ text: String) -> [UInt8]? {
    guard let bytes = latin1(text), (1...79).contains(bytes.count),
      bytes.allSatisfy({ (32...126).contains($0) || $0 > 160 }),
      bytes.first != 32, bytes.last != 32,
      !zip(bytes, bytes.dropFirst()).contains(where: { $0 == 32 && $1 == 32 })
    else { return nil }
    return bytes
  }
}
