internal import CDeflate

/// The zlib stream of one frame, put together from its data chunks.
///
/// Unsafe code: chunk headers are read and payloads copied by pointer. Every range is checked against
/// the number of bytes before it is touched, and no pointer outlives ``withBytes(of:_:)``.
struct PNGFrameData {
  /// The first data chunk whose CRC is wrong: the byte where it starts, counted from the range's.
  private(set) var badChunk: Int?
  /// Whether the data lies in fdAT chunks, not IDAT.
  private(set) var isSequenced = false
  /// Whether the bytes end inside a chunk.
  private(set) var isCut = false
  /// Bytes of the stream.
  private(set) var count = 0
  // With a single chunk nothing is copied: the stream lies in the file's own bytes.
  private var single: Range<Int>?
  private var joined = PixelStorage(byteCount: 64, zeroed: false)

  private static let fdAT: UInt32 = 0x6664_4154

  /// Walks the chunks of `bytes`, of which those of the first one's type are data.
  ///
  /// - Throws: `limitExceeded` when the system has no memory to join them in.
  mutating func collect(_ bytes: borrowing RawSpan) throws(AnimatedImageError) {
    badChunk = nil
    isCut = false
    count = 0
    single = nil
    let total = bytes.byteCount
    try unsafe bytes.withUnsafeBytes { (buffer) throws(AnimatedImageError) in
      guard let base = buffer.baseAddress else { return }
      var type: UInt32?
      var position = 0
      while total - position >= 8 {
        let length = unsafe Int(
          UInt32(bigEndian: base.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
        let name = unsafe UInt32(
          bigEndian: base.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self))
        let start = position + 8
        let end = min(start + length, total)
        isCut = total - start < length + 4
        if name == type ?? name {
          type = name
          isSequenced = name == Self.fdAT
          let skipped = name == Self.fdAT ? 4 : 0
          let isLast = total - end <= 4
          try unsafe append(base, min(start + skipped, end)..<end, limit: total, isLast: isLast)
          if !isCut, badChunk == nil {
            let sum = unsafe libdeflate_crc32(0, base + position + 4, 4 + length)
            let stored = unsafe UInt32(
              bigEndian: base.loadUnaligned(fromByteOffset: end, as: UInt32.self))
            if sum != stored { badChunk = position }
          }
        }
        guard !isCut else { return }
        position = end + 4
      }
      isCut = total > position
    }
  }

  /// Adds a payload; the stream never grows past `limit`, the bytes that it is taken from.
  private mutating func append(
    _ base: UnsafeRawPointer, _ range: Range<Int>, limit: Int, isLast: Bool
  ) throws(AnimatedImageError) {
    guard !range.isEmpty else { return }
    if count == 0, isLast {
      single = range
    } else {
      // Made once for the whole frame: the payloads together are shorter than the range they lie in.
      if count == 0, joined.byteCount < limit {
        joined = try PixelStorage(asking: PixelMemory.rounded(limit), zeroed: false)
      }
      unsafe (joined.baseAddress + count).copyMemory(
        from: base + range.lowerBound, byteCount: range.count)
    }
    count += range.count
  }

  /// Gives the stream to `body`; `bytes` must be those that were collected.
  func withBytes<Result>(
    of bytes: borrowing RawSpan, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    if let single {
      return unsafe bytes.withUnsafeBytes {
        unsafe body(UnsafeRawBufferPointer(rebasing: $0[single]))
      }
    }
    return unsafe body(UnsafeRawBufferPointer(start: joined.baseAddress, count: count))
  }
}
