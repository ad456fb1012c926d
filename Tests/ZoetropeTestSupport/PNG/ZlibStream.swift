internal import CDeflate

/// Writes zlib streams and the checksums of PNG, valid or not.
public struct ZlibStream: Sendable, Hashable {
  /// How the data is compressed.
  public enum Method: Sendable, Hashable {
    /// Not at all, in blocks of at most this many bytes (1 to 65 535).
    case stored(blockSize: Int)
    /// By ``FixedDeflate``: the same bytes on every machine and with every library version.
    case fixed
    /// By libdeflate at a level from 0 to 12; the bytes depend on its version.
    case library(level: Int)
  }

  /// How the data is compressed.
  public var method = Method.fixed
  /// Whether the Adler-32 at the end is correct.
  public var hasCorrectChecksum = true
  /// The number of bytes to keep, including the checksum; nil for all.
  public var byteLimit: Int?
  /// The byte of the stream to invert (exclusive or 0xff); nil for none.
  public var damagedByte: Int?
  /// Bytes after the checksum.
  public var tail: [UInt8] = []

  /// A correct stream.
  public init() {}

  /// The zlib stream of `data`.
  public func encode(_ data: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [0x78, 0x01]
    switch method {
    case .stored(let size): bytes += Self.storedBlocks(data, blockSize: size)
    case .fixed: bytes += FixedDeflate.encode(data)
    case .library(let level): bytes += Self.libraryBlocks(data, level: level)
    }
    bytes += Self.bigEndian(Self.adler32(data) ^ (hasCorrectChecksum ? 0 : 0x5555_5555))
    bytes += tail
    if let byteLimit { bytes = Array(bytes.prefix(byteLimit)) }
    if let damagedByte, bytes.indices.contains(damagedByte) { bytes[damagedByte] ^= 0xff }
    return bytes
  }

  private static func storedBlocks(_ data: [UInt8], blockSize: Int) -> [UInt8] {
    let size = min(max(blockSize, 1), 65_535)
    var bytes: [UInt8] = []
    var start = 0
    repeat {
      let count = min(data.count - start, size)
      let isLast = start + count == data.count
      let low = UInt8(count & 255)
      let high = UInt8(count >> 8)
      bytes += [isLast ? 1 : 0, low, high, ~low, ~high]
      bytes += data[start..<start + count]
      start += count
    } while start < data.count
    return bytes
  }

  private static func libraryBlocks(_ data: [UInt8], level: Int) -> [UInt8] {
    guard let compressor = unsafe libdeflate_alloc_compressor(CInt(min(max(level, 0), 12))) else {
      return storedBlocks(data, blockSize: 65_535)
    }
    defer { unsafe libdeflate_free_compressor(compressor) }
    let bound = unsafe libdeflate_deflate_compress_bound(compressor, data.count)
    // Both buffers are passed with their own lengths, which is all that the library touches.
    return unsafe [UInt8](unsafeUninitializedCapacity: bound) { output, count in
      count = unsafe data.withUnsafeBytes {
        unsafe libdeflate_deflate_compress(
          compressor, $0.baseAddress, $0.count, output.baseAddress, output.count)
      }
    }
  }

  /// CRC-32 as PNG and zlib count it.
  public static func crc32(_ bytes: [UInt8]) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe libdeflate_crc32(0, $0.baseAddress, $0.count) }
  }

  /// Adler-32 as zlib counts it.
  public static func adler32(_ bytes: [UInt8]) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe libdeflate_adler32(1, $0.baseAddress, $0.count) }
  }

  static func bigEndian(_ word: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
  }
}
