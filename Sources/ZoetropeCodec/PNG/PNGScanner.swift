/// Reads the chunks of a PNG or APNG (PNG 3rd edition, 5 and 4.9) from bytes that are fed in pieces.
///
/// Only the scanner knows the list of frames; a decoder is given the data of one frame at a time. If there is an error
/// in the animation before the first frame, only the static image remains. A later error ends the list of frames. Data
/// chunks are skipped, and their CRC is checked when they are decoded.
package struct PNGScanner: Scanning {
  package internal(set) var image = ScannedImage()
  package internal(set) var isAtEnd = false
  package internal(set) var hasEndMarker = false

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
  private static let signatureSize = 8

  package init(limits: DecodingLimits = .default) {
    metadataBudget = MetadataBudget(limits: limits)
    workBudget = WorkBudget(limits: limits, format: .apng)
  }

  package mutating func keepFrames(_ count: Int) {
    image.frames.removeLast(max(image.frames.count - count, 0))
  }

  package var isCanvasKnown: Bool { animation.phase != .beforeData }

  package var arrivingFrame: FrameControl? {
    guard !isAtEnd, !animation.isListEnded, var picture = animation.openPicture,
      picture.control != nil || !animation.isAnimated
    else { return nil }
    picture.end = availableEnd(of: picture)
    return makeFrame(picture, isIndependent: false)
  }

  package var skippableByteCount: Int {
    if case .skip(let remaining) = state { remaining } else { 0 }
  }

  package mutating func skip(_ count: Int) {
    guard case .skip(let remaining) = state, count <= remaining else { return }
    image.byteCount += count
    next(count == remaining ? .crcOfSkipped : .skip(remaining: remaining - count))
  }

  package mutating func passOver(_ count: Int) -> Bool {
    guard case .skip(let remaining) = state, count < remaining else { return false }
    state = .skip(remaining: remaining - count)
    image.byteCount += count
    return true
  }

  package var announcedFrames: Int? { animation.isAnimated ? animation.announcedFrames : nil }

  package mutating func feed(_ bytes: borrowing RawSpan) throws(AnimatedImageError) {
    var position = 0
    let base = image.byteCount
    // Also if a limit ends scanning: the bytes up to here belong to the frames that are kept.
    defer { image.byteCount = base + position }
    while position < bytes.byteCount, !isAtEnd {
      if case .chunkHeader = state { passOverData(bytes, at: &position, base: base) }
      if position < bytes.byteCount { try step(bytes, at: &position, base: base) }
    }
    if isAtEnd, position < bytes.byteCount, !hasTrailingData {
      hasTrailingData = true
      note(.trailingData, "there are bytes after IEND", at: base + position)
    }
  }

  private mutating func step(
    _ bytes: borrowing RawSpan, at position: inout Int, base: Int
  ) throws(AnimatedImageError) {
    switch state {
    case .signature:
      guard collector.collect(Self.signatureSize, from: bytes, at: &position) else { return }
      guard collector.bytes == Self.signature else {
        throw FormatTable.noSignature
      }
      next(.chunkHeader)
    case .chunkHeader:
      if collector.bytes.isEmpty { chunkOffset = base + position }
      guard let start = collector.bigEndian(UInt64.self, from: bytes, at: &position) else { return }
      chunkLength = Int(start >> 32)
      chunkType = PNGChunkType(code: UInt32(truncatingIfNeeded: start))
      try beginChunk()
    case .collect(let length):
      if try readCollected(length, bytes, at: &position) { return }
      guard collector.collect(length, from: bytes, at: &position) else { return }
      collector.move(to: &chunkData)
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
      guard let stored = collector.bigEndian(UInt32.self, from: bytes, at: &position) else {
        return
      }
      next(.chunkHeader)
      try endChunk(hasValidCRC: stored == ChunkCRC.compute(type: chunkType, data: chunkData))
    case .crcOfSkipped:
      guard collector.bigEndian(UInt32.self, from: bytes, at: &position) != nil else { return }
      next(.chunkHeader)
      try endSkippedChunk(at: base + position)
    }
  }

  /// Begins a chunk whose length and type were read.
  private mutating func beginChunk() throws(AnimatedImageError) {
    if !chunkData.isEmpty { chunkData.removeAll(keepingCapacity: chunkData.count <= 4096) }
    if chunkOffset == Self.signatureSize {
      guard chunkType != .appleHeader else {
        throw AnimatedImageError(
          .unsupported, "the file is an iPhone PNG (CgBI), which only Apple's decoder can read",
          format: .png, byteOffset: chunkOffset)
      }
      guard chunkType == .header, chunkLength == 13 else {
        throw AnimatedImageError(
          .malformed,
          chunkType == .header
            ? "IHDR has \(chunkLength) bytes instead of 13"
            : "the first chunk is \(chunkType.name), not IHDR",
          format: .png, byteOffset: chunkOffset)
      }
    }
    switch chunkType {
    case .imageData:
      next(chunkLength == 0 ? .crcOfSkipped : .skip(remaining: chunkLength))
      try beginImageData()
    case .frameData where chunkLength >= 4:
      // Only the sequence number is collected, and the rest of the chunk is skipped.
      next(.collect(length: 4))
    case _ where chunkType.isCollected && isWorthCollecting:
      next(chunkLength == 0 ? .checksum : .collect(length: chunkLength))
    case _ where chunkType.isCollected:
      leaveOutMetadata()
      next(.skip(remaining: chunkLength))
    default:
      next(chunkLength == 0 ? .crcOfSkipped : .skip(remaining: chunkLength))
    }
  }

  private var isWorthCollecting: Bool {
    chunkLength <= max(min(metadataBudget.limits.metadataBytes, 1 << 26), 1024)
  }

  /// Reads in place a chunk whose data begins at `position`, if the data and the CRC are available in full. Otherwise
  /// does nothing and returns false.
  private mutating func readCollected(
    _ length: Int, _ bytes: borrowing RawSpan, at position: inout Int
  ) throws(AnimatedImageError) -> Bool {
    let end = position + length
    guard chunkType != .frameData, collector.bytes.isEmpty, position >= 4,
      end <= bytes.byteCount - 4
    else { return false }
    chunkData.append(copying: bytes.extracting(position..<end))
    // The CRC covers the type too, which lies in the four bytes before the data.
    let sum = CRC32.of(bytes.extracting(position - 4..<end))
    let stored = UInt32(bigEndian: bytes.load(UInt32.self, at: end))
    position = end + 4
    next(.chunkHeader)
    try endChunk(hasValidCRC: sum == stored)
    return true
  }

  mutating func next(_ state: State) {
    collector.reset()
    self.state = state
  }

  /// Records a deviation from the format, at `offset` or, if that is nil, at the start of the current chunk.
  mutating func note(
    _ kind: Damage.Kind, _ detail: @autoclosure () -> String, frame: Int? = nil,
    at offset: Int? = nil
  ) {
    image.note(kind, detail(), frame: frame, at: offset ?? chunkOffset)
  }
}

extension PNGScanner {
  /// Processes a chunk whose data and CRC were read.
  mutating func endChunk(hasValidCRC: Bool) throws(AnimatedImageError) {
    let type = chunkType
    defer { animation.lastType = type }
    switch type {
    case .header: try readHeader(hasValidCRC: hasValidCRC)
    case .palette: readPalette(hasValidCRC: hasValidCRC)
    case .animationControl: readAnimationControl(hasValidCRC: hasValidCRC)
    case .frameControl: try readFrameControl(hasValidCRC: hasValidCRC)
    case .transparency where hasValidCRC: readTransparency()
    case _ where hasValidCRC: readMetadata()
    default: note(.pngAncillaryChunk, "the CRC of \(type.name) is wrong")
    }
  }

  private mutating func readHeader(hasValidCRC: Bool) throws(AnimatedImageError) {
    guard image.header == nil else { return }
    let parsed: PNGHeader
    do throws(PNGFault) {
      guard hasValidCRC else { throw .init("the CRC of IHDR is wrong") }
      parsed = try PNGHeader(parsing: chunkData)
    } catch {
      throw AnimatedImageError(
        .malformed, error.detail, format: .png, byteOffset: chunkOffset)
    }
    try workBudget.checkCanvas(parsed.size, at: chunkOffset)
    var header = ImageHeader(format: .png, canvasSize: parsed.size)
    header.bitDepth = parsed.bitDepth
    header.colorType = parsed.colorType
    header.isInterlaced = parsed.isInterlaced
    image.header = header
  }

  /// Reads a PLTE chunk (11.2.2), which contains 1 to 256 colours of three bytes. Bytes after the last whole colour are
  /// ignored, as in Chromium. The palette is kept only for palette images.
  private mutating func readPalette(hasValidCRC: Bool) {
    let size = chunkData.count
    guard image.header?.colorType == 3, animation.phase == .beforeData,
      image.header?.palette.isEmpty == true, (3...768).contains(size)
    else { return }
    if size % 3 > 0 {
      note(.pngAncillaryChunk, "PLTE has \(size) bytes, which is not a multiple of 3")
    }
    if !hasValidCRC { note(.pngPaletteCRC, "the CRC of PLTE is wrong") }
    image.header?.palette = chunkData.paletteWords
  }

  /// Reads a tRNS chunk (11.3.1.1), which contains the alpha values of the first palette entries, or the one
  /// transparent colour of a grey or RGB image.
  private mutating func readTransparency() {
    guard let header = image.header, animation.phase == .beforeData else { return }
    guard !animation.hasReadTransparency else {
      note(.pngAncillaryChunk, "there is more than one tRNS chunk")
      return
    }
    switch header.colorType {
    case 3:
      animation.hasReadTransparency = !chunkData.isEmpty && !header.palette.isEmpty
      for (index, alpha) in chunkData.prefix(header.palette.count).enumerated() {
        image.header?.palette[index] = header.palette[index] & 0xff_ffff | UInt32(alpha) << 24
      }
      animation.hasTransparency = image.header?.palette.contains { $0 >> 24 < 255 } ?? false
    case 0: readTransparentColor(byteCount: 2, bitDepth: header.bitDepth)
    case 2: readTransparentColor(byteCount: 6, bitDepth: header.bitDepth)
    default: note(.pngAncillaryChunk, "tRNS does not fit the colour type")
    }
  }

  /// Reads the transparent colour of a grey or RGB image. If the chunk is too long, Chromium uses its first bytes. At
  /// 16 bits, however, Chromium compares all bytes, so that no pixel matches.
  private mutating func readTransparentColor(byteCount: Int, bitDepth: UInt8) {
    let size = chunkData.count
    guard size == byteCount || size > byteCount && bitDepth < 16 else {
      return note(.pngAncillaryChunk, "tRNS has \(size) bytes instead of \(byteCount)")
    }
    let low = chunkData[1]
    if byteCount == 2, bitDepth < 8, low >> bitDepth > 0 {
      // No sample can have this value. libpng masks it to the bit depth; in browsers no pixel matches.
      return note(.pngAncillaryChunk, "the tRNS value \(low) exceeds \(bitDepth) bits")
    }
    if size > byteCount {
      note(.pngAncillaryChunk, "tRNS has \(size) bytes instead of \(byteCount)")
    }
    image.header?.transparency = Array(chunkData.prefix(byteCount))
    (animation.hasTransparency, animation.hasReadTransparency) = (true, true)
  }

  /// Checks the type of a skipped chunk. A critical chunk of unknown type is an error if it precedes the image data.
  /// Later in an animation, it ends the list of frames.
  mutating func checkUnknownChunk() throws(AnimatedImageError) {
    guard chunkType.isCritical, !chunkType.isCollected,
      chunkType != .imageData, chunkType != .end
    else { return }
    guard animation.phase != .beforeData else {
      throw AnimatedImageError(
        .unsupported, "unknown critical chunk \(chunkType.name)", format: .png,
        byteOffset: chunkOffset)
    }
    guard animation.isAnimated, !animation.isListEnded else { return }
    try closePicture(at: chunkOffset)
    animation.isListEnded = true
    let type = chunkType
    note(.pngCriticalChunk, "unknown critical chunk \(type.name)", frame: image.frames.count)
  }

  package mutating func finish() throws(AnimatedImageError) {
    guard image.header != nil else {
      throw AnimatedImageError(
        .truncated, "the file has \(image.byteCount) bytes, too few for a PNG header",
        byteOffset: image.byteCount)
    }
    let isCut = !isAtEnd
    if isCut { try finishEarly() }
    isAtEnd = true
    guard animation.phase != .beforeData else {
      throw AnimatedImageError(
        isCut ? .truncated : .noFrames, "there is no image data", format: .png,
        byteOffset: image.byteCount)
    }
    settleAnimation(isCut: isCut)
  }

  /// Ends the scan of a file without IEND. Only decoding shows whether the data of the open picture is complete.
  private mutating func finishEarly() throws(AnimatedImageError) {
    let end = image.byteCount
    let type = chunkType
    var isBetweenChunks = false
    if case .chunkHeader = state { isBetweenChunks = collector.bytes.isEmpty }
    note(
      isBetweenChunks ? .missingTrailer : .cutBlock,
      isBetweenChunks ? "the data ends without IEND" : "the data ends inside \(type.name)",
      at: end)
    guard var picture = animation.openPicture, !animation.isListEnded else {
      try closePicture(at: end)
      return
    }
    animation.openPicture = nil
    picture.end = availableEnd(of: picture)
    if let control = picture.control {
      let area = control.rect.size.area
      try workBudget.charge(frame: image.frames.count, area: area, at: picture.start)
    }
    image.cutFrame = makeFrame(picture, isIndependent: image.frames.isEmpty)
  }

  /// Returns the offset just past the bytes of the open picture that were read so far. The bytes of a chunk that
  /// contains no pixels do not belong to the picture.
  private func availableEnd(of picture: PNGAnimationState.OpenPicture) -> Int {
    switch state {
    case .skip, .crcOfSkipped: isDataChunk ? image.byteCount : picture.end
    default: picture.end
    }
  }

  /// Decides, after the whole file has been read, whether it is an APNG or a PNG.
  private mutating func settleAnimation(isCut: Bool) {
    guard animation.isAnimated,
      animation.phase == .frames || image.cutFrame == nil || animation.hasStaticFrame
    else {
      if animation.hasFrameControl, animation.announcedFrames == nil, !animation.isBroken {
        note(.pngStaticOnly, "there are fcTL chunks, but no acTL chunk", at: image.byteCount)
      }
      image.showStaticImage()
      return
    }
    let found = image.frames.count + (image.cutFrame == nil ? 0 : 1)
    if let announced = animation.announcedFrames, found < announced, !animation.isListEnded {
      if isCut {
        note(
          .missingFrames,
          "the file announces \(announced) frames, but has data for only \(found)",
          frame: found, at: image.byteCount)
      } else if found > 0 {
        note(
          .pngFrameCount, "the file announces \(announced) frames, but has \(found)",
          at: image.byteCount)
      }
    }
    if found == 0 {
      note(.pngStaticOnly, "there is an acTL chunk, but no valid frame", at: image.byteCount)
      image.showStaticImage()
    }
  }
}
