internal import CDeflate

/// The CRC-32 of a chunk's type and data (PNG 3rd edition, 5.3).
package enum ChunkCRC {
  /// The CRC-32 of `bytes`, which are a chunk's type and data.
  package static func compute(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe libdeflate_crc32(0, $0.baseAddress, $0.count) }
  }

  static func compute(type: PNGChunkType, data: [UInt8]) -> UInt32 {
    let name = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: type.code >> $0) }
    // Both arrays outlive the calls, which read exactly as many bytes as they are told.
    let start = unsafe name.withUnsafeBytes { unsafe libdeflate_crc32(0, $0.baseAddress, 4) }
    guard !data.isEmpty else { return start }
    return unsafe data.withUnsafeBytes { unsafe libdeflate_crc32(start, $0.baseAddress, $0.count) }
  }
}
