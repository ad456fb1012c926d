/// One PNG chunk, right or wrong.
public struct PNGChunk: Sendable, Hashable {
  /// The four letters of its type.
  public var type: String
  /// Its data.
  public var data: [UInt8]
  /// The stored length; nil for the real one.
  public var declaredLength: UInt32?
  /// Whether the CRC is right.
  public var hasCorrectChecksum = true

  /// A correct chunk.
  public init(_ type: String, _ data: [UInt8] = []) {
    self.type = type
    self.data = data
  }

  /// Length, type, data, CRC.
  public var bytes: [UInt8] {
    let body = type.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } + data
    let checksum = ZlibStream.crc32(body) ^ (hasCorrectChecksum ? 0 : 0xaaaa_aaaa)
    return ZlibStream.bigEndian(declaredLength ?? UInt32(data.count)) + body
      + ZlibStream.bigEndian(checksum)
  }
}
