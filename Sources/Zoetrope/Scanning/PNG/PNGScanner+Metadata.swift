extension PNGScanner {
  /// Keeps what an ancillary chunk says (11.3.2 to 11.3.5), the first of each kind.
  mutating func readMetadata() {
    guard metadataBudget.admits(byteCount: chunkData.count) else { return }
    switch chunkType {
    case .gamma where chunkData.count == 4:
      keep(\.gamma, chunkData.bigEndian32(at: 0))
    case .chromaticities where chunkData.count == 32:
      keep(\.chromaticities, (0..<8).map { chunkData.bigEndian32(at: $0 * 4) })
    case .srgb where chunkData.count == 1:
      keep(\.srgbIntent, chunkData[0])
    case .cicp where chunkData.count == 4:
      keep(\.cicp, chunkData)
    case .pixelDensity where chunkData.count == 9:
      keep(
        \.pixelDensity,
        .init(
          x: chunkData.bigEndian32(at: 0), y: chunkData.bigEndian32(at: 4),
          isPerMetre: chunkData[8] == 1))
    case .exif:
      keep(\.exif, chunkData)
    case .iccProfile: readProfile()
    case .text, .compressedText, .internationalText: readText()
    default: note(.pngAncillaryChunk, "\(chunkType.name) of \(chunkData.count) bytes")
    }
  }

  private mutating func keep<Value>(
    _ path: WritableKeyPath<AnimationMetadata, Value?>, _ value: Value
  ) {
    if image.metadata[keyPath: path] == nil { image.metadata[keyPath: path] = value }
  }

  /// iCCP: name, 0, compression method 0, zlib stream.
  private mutating func readProfile() {
    guard let zero = chunkData.firstIndex(of: 0), zero + 1 < chunkData.count,
      let profile = Inflate.zlib(
        chunkData[(zero + 2)...], limit: metadataBudget.limits.metadataBytes)
    else {
      note(.pngAncillaryChunk, "iCCP is damaged or too large")
      return
    }
    keep(\.iccProfile, profile)
    keep(\.iccProfileName, Self.latin1(chunkData[..<zero]))
  }

  /// tEXt: key, 0, Latin-1. zTXt: key, 0, method, zlib stream of Latin-1. iTXt: key, 0, compressed
  /// flag, method, language, 0, translated key, 0, UTF-8 that may be a zlib stream.
  private mutating func readText() {
    let limit = metadataBudget.limits.metadataBytes
    let parts = chunkData.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      note(.pngAncillaryChunk, "\(chunkType.name) without a key")
      return
    }
    let key = Self.latin1(parts[0])
    var value: String?
    switch chunkType {
    case .text: value = Self.latin1(parts[1])
    case .compressedText:
      value = Inflate.zlib(parts[1].dropFirst(), limit: limit).map { Self.latin1($0[...]) }
    default:
      let fields = parts[1].dropFirst(2).split(
        separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
      if fields.count == 3, let isCompressed = parts[1].first {
        let text = isCompressed == 1 ? Inflate.zlib(fields[2], limit: limit) : Array(fields[2])
        value = text.map { String(decoding: $0, as: UTF8.self) }
      }
    }
    guard let value else {
      note(.pngAncillaryChunk, "\(chunkType.name) is damaged or too large")
      return
    }
    if key == "XML:com.adobe.xmp" { keep(\.xmp, value) }
    image.metadata.texts.append(.init(key: key, value: value))
  }

  private static func latin1(_ bytes: ArraySlice<UInt8>) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: bytes.map { Unicode.Scalar($0) })
    return String(text)
  }
}
