extension PNGScanner {
  /// Stores the metadata in an ancillary chunk (11.3.2 to 11.3.5). Apart from texts, only the first chunk of each type
  /// counts.
  mutating func readMetadata() {
    let type = chunkType
    let size = chunkData.count
    guard metadataBudget.admits(byteCount: size) else { return leaveOutMetadata() }
    switch type {
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
          isPerMeter: chunkData[8] == 1))
    case .exif:
      keep(\.exif, chunkData)
    case .iccProfile: readProfile()
    case .text, .compressedText, .internationalText: readText()
    default: note(.pngAncillaryChunk, "\(type.name) has an invalid length, \(size) bytes")
    }
  }

  mutating func leaveOutMetadata() {
    if metadataBudget.leaveOut() {
      note(.metadataLimit, "metadata that exceeds the limits is dropped")
    }
  }

  /// Inflates a text or a profile and charges its byte count to the metadata budget. Returns nil if the data is damaged
  /// or too large.
  private mutating func inflate(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    let limit = metadataBudget.itemBytes
    guard let inflated = Inflate.zlib(bytes, limit: limit) else { return nil }
    metadataBudget.charge(min(inflated.count, metadataBudget.itemBytes))
    return inflated
  }

  private mutating func keep<Value>(
    _ path: WritableKeyPath<AnimationMetadata, Value?>, _ value: Value
  ) {
    if image.metadata[keyPath: path] == nil { image.metadata[keyPath: path] = value }
  }

  /// Reads an iCCP chunk: the profile name, a zero byte, compression method 0, and a zlib stream.
  private mutating func readProfile() {
    guard image.metadata.iccProfile == nil else { return }
    guard let zero = chunkData.firstIndex(of: 0), zero + 1 < chunkData.count,
      let profile = inflate(chunkData[(zero + 2)...])
    else {
      note(.pngAncillaryChunk, "iCCP is damaged or too large")
      return
    }
    keep(\.iccProfile, profile)
    keep(\.iccProfileName, String(latin1: chunkData[..<zero]))
  }

  /// Reads a text chunk. After the key and a zero byte, the chunk contains:
  /// - tEXt: Latin-1 text;
  /// - zTXt: the compression method and a zlib stream of Latin-1 text;
  /// - iTXt: the compression flag, the compression method, the language, a zero byte, the translated key, a zero byte,
  ///   and UTF-8 text, which may be compressed to a zlib stream.
  private mutating func readText() {
    let type = chunkType
    let parts = chunkData.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      note(.pngAncillaryChunk, "\(type.name) has no key")
      return
    }
    let key = String(latin1: parts[0])
    var value: String?
    switch type {
    case .text: value = String(latin1: parts[1])
    case .compressedText:
      value = inflate(parts[1].dropFirst()).map { String(latin1: $0[...]) }
    default:
      let fields = parts[1].dropFirst(2).split(
        separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
      if fields.count == 3, let isCompressed = parts[1].first {
        let text = isCompressed == 1 ? inflate(fields[2]) : Array(fields[2])
        value = text.map { String(decoding: $0, as: UTF8.self) }
      }
    }
    guard let value else {
      note(.pngAncillaryChunk, "\(type.name) is damaged or too large")
      return
    }
    if key == "XML:com.adobe.xmp" {
      keep(\.xmp, value)
    } else {
      image.metadata.texts.append(.init(key: key, value: value))
    }
  }
}
