internal import CDeflate

/// A PNG split into chunks, and reassembled with correct checksums and sequence numbers.
struct PNGChunks {
  struct Chunk {
    var type: [UInt8]
    var data: [UInt8]
    func `is`(_ name: StaticString) -> Bool { type.elementsEqual(name.description.utf8) }
  }

  var chunks: [Chunk] = []

  /// Nil when there is no whole chunk after a signature.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 20, bytes.starts(with: [0x89, 0x50]) else { return nil }
    var position = 8
    while bytes.count - position >= 8 {
      let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      let data = bytes[(position + 8)...].prefix(length)
      chunks.append(Chunk(type: Array(bytes[position + 4..<position + 8]), data: Array(data)))
      guard bytes.count - position - 12 >= length else { break }
      position += 12 + length
    }
    if chunks.isEmpty { return nil }
  }

  /// Numbers fcTL and fdAT in order.
  mutating func renumber() {
    var number: UInt32 = 0
    for index in chunks.indices
    where chunks[index].is("fcTL") || chunks[index].is("fdAT") {
      guard chunks[index].data.count >= 4 else { continue }
      chunks[index].data.replaceSubrange(0..<4, with: Self.bigEndian(number))
      number += 1
    }
  }

  /// The file; a chunk that `breaksCRC` points out gets a wrong checksum.
  func bytes(breaksCRC: (Int) -> Bool) -> [UInt8] {
    var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    for (index, chunk) in chunks.enumerated() {
      let body = chunk.type + chunk.data
      // The array's own bytes and their number.
      let sum = unsafe body.withUnsafeBytes { unsafe libdeflate_crc32(0, $0.baseAddress, $0.count) }
      bytes += Self.bigEndian(UInt32(chunk.data.count)) + body
      bytes += Self.bigEndian(breaksCRC(index) ? ~sum : sum)
    }
    return bytes
  }

  static func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// The bytes in a zlib stream, hardly compressed.
  static func deflated(_ bytes: [UInt8]) -> [UInt8] {
    guard let compressor = unsafe libdeflate_alloc_compressor(1) else { return bytes }
    defer { unsafe libdeflate_free_compressor(compressor) }
    var out = [UInt8](repeating: 0, count: bytes.count + 128)
    // Both buffers live through the call and their sizes are passed on.
    let count = unsafe bytes.withUnsafeBytes { input in
      unsafe out.withUnsafeMutableBytes { out in
        unsafe libdeflate_zlib_compress(
          compressor, input.baseAddress, input.count, out.baseAddress, out.count)
      }
    }
    return Array(out.prefix(count))
  }

  /// The contents of a zlib stream, up to 16 KB; nil if it is damaged or longer.
  static func inflated(_ bytes: [UInt8]) -> [UInt8]? {
    guard let decompressor = unsafe libdeflate_alloc_decompressor() else { return nil }
    defer { unsafe libdeflate_free_decompressor(decompressor) }
    var out = [UInt8](repeating: 0, count: 1 << 14)
    var count = 0
    let result = unsafe bytes.withUnsafeBytes { input in
      unsafe out.withUnsafeMutableBytes { out in
        unsafe libdeflate_zlib_decompress(
          decompressor, input.baseAddress, input.count, out.baseAddress, out.count, &count)
      }
    }
    return result == LIBDEFLATE_SUCCESS ? Array(out.prefix(count)) : nil
  }
}
