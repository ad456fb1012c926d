/// Joins the data chunks of one frame to its zlib stream.
struct PNGStreamAssembler {
  /// The offset, within the frame's range, of the first data chunk with a wrong CRC.
  private(set) var badChunk: Int?
  /// Whether the data lies in fdAT chunks, not IDAT.
  private(set) var isSequenced = false
  /// Whether the bytes end inside a chunk.
  private(set) var isCut = false
  /// Whether bytes of the stream are certain to be missing, because the bytes end inside a chunk's data.
  private(set) var isDataCut = false
  /// The number of bytes of the stream.
  private(set) var count = 0
  // A single chunk is not copied. The stream is then a range of the file's bytes.
  private var single: Range<Int>?
  private var joined: [UInt8] = []

  private static let fdAT: UInt32 = 0x6664_4154

  /// Walks the chunks of `bytes`. Chunks of the same type as the first one contain the data.
  ///
  /// - Throws: `outOfMemory` if allocating memory to join them fails.
  mutating func collect(_ bytes: borrowing RawSpan) throws(AnimatedImageError) {
    badChunk = nil
    isCut = false
    isDataCut = false
    count = 0
    single = nil
    let total = bytes.byteCount
    var type: UInt32?
    var position = 0
    while total - position >= 8 {
      let length = Int(UInt32(bigEndian: bytes.load(UInt32.self, at: position)))
      let name = UInt32(bigEndian: bytes.load(UInt32.self, at: position + 4))
      let start = position + 8
      let end = min(start + length, total)
      isCut = total - start < length + 4
      if name == type ?? name {
        type = name
        isSequenced = name == Self.fdAT
        isDataCut = total - start < length
        let skipped = name == Self.fdAT ? 4 : 0
        let isLast = total - end <= 4
        try append(bytes, min(start + skipped, end)..<end, isLast: isLast)
        if !isCut, badChunk == nil {
          let sum = CRC32.of(bytes.extracting(position + 4..<end))
          let stored = UInt32(bigEndian: bytes.load(UInt32.self, at: end))
          if sum != stored { badChunk = position }
        }
      }
      guard !isCut else { return }
      position = end + 4
    }
    isCut = total > position
  }

  /// Appends a payload. The stream never grows larger than the bytes it comes from.
  private mutating func append(
    _ bytes: borrowing RawSpan, _ range: Range<Int>, isLast: Bool
  ) throws(AnimatedImageError) {
    guard !range.isEmpty else { return }
    if count == 0, isLast {
      single = range
    } else {
      if count == 0 {
        // Allocate once for the whole frame: all payloads together are shorter than the frame's range.
        joined.removeAll(keepingCapacity: true)
        if joined.capacity < bytes.byteCount { try PixelMemory.require(bytes.byteCount) }
        joined.reserveCapacity(bytes.byteCount)
      }
      joined.append(copying: bytes.extracting(range))
    }
    count += range.count
  }

  /// Calls `body` with the stream. `bytes` must be the bytes that were collected.
  func withBytes<Result>(
    of bytes: borrowing RawSpan, _ body: (borrowing RawSpan) -> Result
  ) -> Result {
    if let single { return body(bytes.extracting(single)) }
    return body(joined.rawBytes)
  }
}

/// The steps of both PNG decoders before and after decoding the pixels.
extension PNGStreamAssembler {
  /// Collects the data of `control` and prepares `pixels`. Returns false for a frame without pixels.
  mutating func begin(
    _ control: FrameControl, bytes: borrowing RawSpan, into pixels: FramePixels
  ) throws(AnimatedImageError) -> Bool {
    try collect(bytes)
    pixels.resetForPNG(control.rect.size)
    return !control.rect.isEmpty
  }

  /// Decodes the stream with libpng. `bytes` must be the bytes that were collected.
  func decodeByLibpng(
    _ bytes: borrowing RawSpan, header: ImageHeader, keeps16Bit: Bool, into pixels: FramePixels
  ) throws(AnimatedImageError) -> PNGFrameOutcome {
    try withBytes(of: bytes) { stream in
      LibpngDecoder.decode(stream, header: header, keeps16Bit: keeps16Bit, into: pixels)
    }.get()
  }
}
