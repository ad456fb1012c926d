/// Reads the chunks of a PNG or APNG (PNG 3rd edition, 5 and 4.9), fed in pieces.
///
/// The one parser that owns the frame list: a decoder only ever sees one frame's data. What breaks
/// the animation's rules before the first frame leaves the static image; what breaks them later ends
/// the list there. Data chunks are passed over; their CRC is checked when they are decoded.
package struct PNGScanner: Scanning {
  package internal(set) var image = ScannedImage()
  package internal(set) var isAtEnd = false

  enum State: Sendable {
    case signature
    case chunkHeader
    case collect(length: Int)
    case skip(remaining: Int)
    case checksum
    case crcOfSkipped
  }

  var state = State.signature
  var collector = ByteCollector()
  var chunkType = PNGChunkType.header
  var chunkLength = 0
  var chunkOffset = 0
  var chunkData: [UInt8] = []
  var animation = PNGAnimationState()
  var metadataBudget: MetadataBudget
  var workBudget: WorkBudget
  var independence = IndependenceTracker()
  private var hasTrailingData = false

  package static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

  package init(limits: DecodingLimits = .default) {
    metadataBudget = MetadataBudget(limits: limits)
    workBudget = WorkBudget(limits: limits, format: .apng)
  }

  package mutating func feed(_ bytes: borrowing RawSpan) throws(AnimatedImageError) {
    var position = 0
    let base = image.byteCount
    while position < bytes.byteCount, !isAtEnd {
      try step(bytes, at: &position, base: base)
    }
    if isAtEnd, position < bytes.byteCount, !hasTrailingData {
      hasTrailingData = true
      note(.trailingData, "bytes after IEND", at: base + position)
    }
    image.byteCount = base + position
  }

  private mutating func step(
    _ bytes: borrowing RawSpan, at position: inout Int, base: Int
  ) throws(AnimatedImageError) {
    switch state {
    case .signature:
      guard collector.collect(8, from: bytes, at: &position) else { return }
      guard collector.bytes == Self.signature else {
        throw AnimatedImageError(.notAnImage, "no PNG signature", byteOffset: 0)
      }
      next(.chunkHeader)
    case .chunkHeader:
      if collector.bytes.isEmpty { chunkOffset = base + position }
      guard collector.collect(8, from: bytes, at: &position) else { return }
      try beginChunk()
    case .collect(let length):
      guard collector.collect(length, from: bytes, at: &position) else { return }
      chunkData = collector.bytes
      if chunkType == .frameData {
        try readSequenceNumber()
        next(chunkLength == 4 ? .crcOfSkipped : .skip(remaining: chunkLength - 4))
      } else {
        next(.checksum)
      }
    case .skip(let remaining):
      let count = min(remaining, bytes.byteCount - position)
      position += count
      next(count == remaining ? .crcOfSkipped : .skip(remaining: remaining - count))
    case .checksum:
      guard collector.collect(4, from: bytes, at: &position) else { return }
      let isValid =
        collector.bytes.bigEndian32(at: 0) == ChunkCRC.compute(type: chunkType, data: chunkData)
      next(.chunkHeader)
      try endChunk(hasValidCRC: isValid)
    case .crcOfSkipped:
      guard collector.collect(4, from: bytes, at: &position) else { return }
      next(.chunkHeader)
      try endSkippedChunk(at: base + position)
    }
  }

  /// Length and type of a chunk were read.
  private mutating func beginChunk() throws(AnimatedImageError) {
    chunkLength = Int(collector.bytes.bigEndian32(at: 0))
    chunkType = PNGChunkType(code: collector.bytes.bigEndian32(at: 4))
    chunkData = []
    if image.header == nil {
      guard chunkType != .appleHeader else {
        throw AnimatedImageError(
          .unsupported, "an iPhone PNG (CgBI), whose pixels only Apple's decoder reads",
          format: .png, byteOffset: chunkOffset)
      }
      guard chunkType == .header, chunkLength == 13 else {
        throw AnimatedImageError(
          .malformed,
          chunkType == .header
            ? "IHDR of \(chunkLength) bytes, it has 13"
            : "the first chunk is \(chunkType.name), not IHDR",
          format: .png, byteOffset: chunkOffset)
      }
    }
    switch chunkType {
    case .imageData:
      next(chunkLength == 0 ? .crcOfSkipped : .skip(remaining: chunkLength))
      try beginImageData()
    case .frameData where chunkLength >= 4:
      // The sequence number is collected; the rest is passed over.
      next(.collect(length: 4))
    case _ where PNGChunkType.collected.contains(chunkType) && isWorthCollecting:
      next(chunkLength == 0 ? .checksum : .collect(length: chunkLength))
    case _ where PNGChunkType.collected.contains(chunkType):
      leaveOutMetadata()
      next(.skip(remaining: chunkLength))
    default:
      next(chunkLength == 0 ? .crcOfSkipped : .skip(remaining: chunkLength))
    }
  }

  private var isWorthCollecting: Bool {
    chunkLength <= max(min(metadataBudget.limits.metadataBytes, 1 << 26), 1024)
  }

  mutating func next(_ state: State) {
    collector.reset()
    self.state = state
  }

  /// Notes a deviation in the chunk that is being read, or at `offset`.
  mutating func note(
    _ kind: Damage.Kind, _ detail: String, frame: Int? = nil, at offset: Int? = nil
  ) {
    image.note(kind, detail, frame: frame, at: offset ?? chunkOffset)
  }
}
