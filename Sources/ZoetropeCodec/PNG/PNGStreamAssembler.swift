/// Joins the data chunks of one frame into a zlib stream.
struct PNGStreamAssembler {
  /// The offset, within the frame's range, of the first data chunk that has a wrong CRC, or nil if there is none.
  private(set) var badChunk: Int?
  /// Whether the data lies in fdAT chunks. Otherwise it lies in IDAT chunks.
  private(set) var isSequenced = false
  /// Whether the frame's bytes end inside a chunk.
  private(set) var isCut = false
  /// Whether part of the stream is certain to be missing, because the frame's bytes end inside the data of a chunk.
  private(set) var isDataCut = false
  /// The number of bytes of the zlib stream.
  private(set) var count = 0
  // The position of the stream in the frame's bytes, if a single chunk contains all of it. The stream is then not
  // copied.
  private var single: Range<Int>?
  private var joined: [UInt8] = []

  /// Collects the data of the chunks in `bytes`. The type of the first chunk is the type of all data chunks; other
  /// chunks are skipped.
  ///
  /// - Throws: `outOfMemory` if allocating memory for the stream fails.
  mutating func collect(_ bytes: borrowing RawSpan) throws(AnimatedImageError) {
    badChunk = nil
    isCut = false
    isDataCut = false
    count = 0
    single = nil
    joined.removeAll(keepingCapacity: true)
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
        isSequenced = name == PNGChunkType.frameData.code
        isDataCut = total - start < length
        let skipped = name == PNGChunkType.frameData.code ? 4 : 0
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

  /// Appends the data of a chunk to the stream. The stream never becomes longer than the frame's bytes.
  private mutating func append(
    _ bytes: borrowing RawSpan, _ range: Range<Int>, isLast: Bool
  ) throws(AnimatedImageError) {
    guard !range.isEmpty else { return }
    if count == 0, isLast {
      single = range
    } else {
      if count == 0 {
        // Memory is allocated once for the whole frame, because all data together is shorter than the frame's range.
        let total = bytes.byteCount
        if joined.capacity < total {
          joined = []
          try PixelMemory.allocating(total) { joined.reserveCapacity(total) }
        }
      }
      joined.append(copying: bytes.extracting(range))
    }
    count += range.count
  }

  /// Calls `body` with the zlib stream. `bytes` must be the bytes that were passed to ``collect(_:)``.
  func withBytes<Result>(
    of bytes: borrowing RawSpan, _ body: (borrowing RawSpan) -> Result
  ) -> Result {
    if let single { return body(bytes.extracting(single)) }
    return body(joined.rawBytes)
  }
}

/// The steps that both PNG decoders share.
extension PNGStreamAssembler {
  /// Collects the data of the frame `control` and resets `pixels` for it. Returns false if the frame has no pixels.
  mutating func begin(
    _ control: FrameControl, bytes: borrowing RawSpan, into pixels: FramePixels
  ) throws(AnimatedImageError) -> Bool {
    try collect(bytes)
    pixels.resetForPNG(control.rect.size)
    return !control.rect.isEmpty
  }

  /// Decodes the stream with libpng. `bytes` must be the bytes that were passed to ``collect(_:)``.
  func decodeByLibpng(
    _ bytes: borrowing RawSpan, header: ImageHeader, keeps16Bit: Bool, into pixels: FramePixels
  ) throws(AnimatedImageError) -> PNGFrameOutcome {
    try withBytes(of: bytes) { stream in
      LibpngDecoder.decode(stream, header: header, keeps16Bit: keeps16Bit, into: pixels)
    }.get()
  }
}
