extension PNGScanner {
  /// Reads an acTL chunk (11.3.6.1): the number of frames and the number of plays.
  mutating func readAnimationControl(hasValidCRC: Bool) {
    guard animation.phase == .beforeData, animation.announcedFrames == nil else {
      note(.pngAnimationControl, "an acTL chunk follows another acTL chunk or the image data")
      return
    }
    guard hasValidCRC, chunkData.count == 8 else { return passOver("the acTL chunk is damaged") }
    let frames = chunkData.bigEndian32(at: 0)
    let plays = chunkData.bigEndian32(at: 4)
    guard (1...0x7fff_ffff).contains(frames), plays <= 0x7fff_ffff else {
      return passOver("the acTL chunk announces \(frames) frames and \(plays) plays")
    }
    replaceFault(.pngAnimationControl)
    animation.announcedFrames = Int(frames)
    image.storedLoopCount = plays
  }

  /// Processes an fcTL chunk whose data was read.
  mutating func readFrameControl(hasValidCRC: Bool) throws(AnimatedImageError) {
    animation.hasFrameControl = true
    guard !animation.isListEnded, !animation.isBroken else { return }
    if animation.phase != .beforeData {
      guard animation.isAnimated else { return }
      try closePicture(at: chunkOffset)
      animation.phase = .frames
      guard !animation.isListEnded else {
        let announced = animation.announcedFrames ?? 0
        note(.pngFrameCount, "the file has more frames than the \(announced) that it announces")
        return
      }
    }
    guard let canvas = image.header?.canvasSize else { return }
    if animation.phase == .beforeData, !hasValidCRC {
      return passOver("an fcTL chunk has a wrong checksum")
    }
    let control: PNGFrameControl
    do throws(PNGFault) {
      guard hasValidCRC else { throw .init("an fcTL chunk has a wrong checksum") }
      control = try PNGFrameControl(
        parsing: chunkData, sequence: Int(animation.nextSequence), canvas: canvas)
    } catch {
      return rejectFrame(error.detail)
    }
    animation.nextSequence &+= 1
    if animation.pendingControl != nil {
      note(
        animation.phase == .beforeData ? .pngFrameControlTwice : .pngFrameWithoutData,
        "an fcTL chunk follows another fcTL chunk", frame: image.frames.count)
    }
    if animation.phase == .beforeData, control.rect != PixelRect(canvas) {
      rejectFrame("the first frame is \(control.rect), but must fill the canvas of \(canvas)")
      return
    }
    if animation.phase == .beforeData { replaceFault(.pngFrameControlTwice) }
    animation.pendingControl = control
  }

  /// Records an invalid acTL or fcTL chunk that precedes the image data. The effect of the chunk is decided when the
  /// image data begins.
  private mutating func passOver(_ detail: String) {
    if animation.fault == nil {
      animation.fault = .init(type: chunkType, detail: detail, offset: chunkOffset)
    }
  }

  /// If the current, valid chunk replaces a recorded invalid chunk, reports the invalid chunk as a deviation and clears
  /// the record.
  private mutating func replaceFault(_ kind: Damage.Kind) {
    guard let fault = animation.fault, fault.type == chunkType else { return }
    note(kind, "\(fault.detail), but a valid one follows", at: fault.offset)
    animation.fault = nil
  }

  /// Decides the effect of a recorded fault when the image data begins. If no valid chunk of the same type was found,
  /// the file becomes a still picture.
  private mutating func settleFault() {
    guard let fault = animation.fault else { return }
    if fault.type == .animationControl
      ? animation.announcedFrames == nil : animation.pendingControl == nil
    {
      breakAnimation(fault.detail, at: fault.offset)
    } else {
      note(.pngFrameControlTwice, fault.detail, at: fault.offset)
    }
  }

  /// Begins an IDAT chunk.
  mutating func beginImageData() throws(AnimatedImageError) {
    switch animation.phase {
    case .beforeData:
      if image.header?.colorType == 3, image.header?.palette.isEmpty == true {
        throw AnimatedImageError(
          .malformed, "a palette image has no PLTE chunk before its image data", format: .png,
          byteOffset: chunkOffset)
      }
      settleFault()
      animation.phase = .staticData
      if animation.isAnimated { image.header?.format = .apng }
      animation.openPicture = .init(
        control: animation.isAnimated ? animation.pendingControl : nil, start: chunkOffset,
        end: chunkOffset)
      animation.hasStaticFrame = animation.openPicture?.control != nil
      animation.pendingControl = nil
    case .staticData:
      if animation.lastType != .imageData {
        note(.pngSplitData, "there is another chunk between IDAT chunks")
      }
    case .frames:
      guard animation.isAnimated, !animation.isListEnded else { return }
      try closePicture(at: chunkOffset)
      rejectFrame("an IDAT chunk follows the chunks of a later frame")
    }
  }

  /// Processes the sequence number of an fdAT chunk, which was just read.
  mutating func readSequenceNumber() throws(AnimatedImageError) {
    guard animation.isAnimated, !animation.isListEnded else { return }
    guard animation.phase != .beforeData else {
      breakAnimation("an fdAT chunk precedes the first IDAT chunk")
      return
    }
    guard chunkData.bigEndian32(at: 0) == animation.nextSequence else {
      try rejectFrameData("an fdAT chunk is out of sequence")
      return
    }
    animation.nextSequence &+= 1
    if let control = animation.pendingControl {
      animation.openPicture = .init(control: control, start: chunkOffset, end: chunkOffset)
      animation.pendingControl = nil
    } else if animation.openPicture == nil || animation.phase == .staticData {
      try rejectFrameData("an fdAT chunk has no fcTL chunk before it")
    } else if animation.lastType != .frameData {
      note(
        .pngSplitData, "there is another chunk between fdAT chunks", frame: image.frames.count)
    }
  }

  /// Skips all chunks that continue the data of the open picture and are available in full.
  ///
  /// A file may consist of one-byte chunks. Running all steps of the scanner for each of these would take longer than
  /// decoding.
  mutating func passOverData(_ bytes: borrowing RawSpan, at position: inout Int, base: Int) {
    guard collector.bytes.isEmpty, animation.openPicture != nil, !animation.isListEnded else {
      return
    }
    let type = animation.lastType
    let isSequenced = type == .frameData
    guard
      isSequenced
        ? animation.phase == .frames && animation.isAnimated && animation.pendingControl == nil
        : type == .imageData && animation.phase == .staticData
    else { return }
    var sequence = animation.nextSequence
    var place = position
    var last = position
    while bytes.byteCount - place >= (isSequenced ? 16 : 12) {
      let start = UInt64(bigEndian: bytes.load(UInt64.self, at: place))
      let length = Int(start >> 32)
      guard UInt32(truncatingIfNeeded: start) == type.code, length <= bytes.byteCount - place - 12
      else { break }
      if isSequenced {
        guard length >= 4, UInt32(bigEndian: bytes.load(UInt32.self, at: place + 8)) == sequence
        else { break }
        sequence &+= 1
      }
      last = place
      place += length + 12
    }
    guard place > position else { return }
    animation.nextSequence = sequence
    animation.openPicture?.end = base + place
    chunkOffset = base + last
    position = place
  }

  /// Whether the current chunk contains pixels of the open picture.
  var isDataChunk: Bool {
    chunkType == .frameData && animation.phase == .frames
      || chunkType == .imageData && animation.phase == .staticData
  }

  /// Processes the end of a skipped chunk. `end` is the file offset just past it.
  mutating func endSkippedChunk(at end: Int) throws(AnimatedImageError) {
    if chunkType == .frameData, chunkLength < 4, animation.isAnimated, !animation.isListEnded {
      try rejectFrameData("an fdAT chunk has only \(chunkLength) bytes")
    }
    if isDataChunk, !animation.isListEnded { animation.openPicture?.end = end }
    try checkUnknownChunk()
    animation.lastType = chunkType
    if chunkType == .end {
      try closePicture(at: chunkOffset)
      isAtEnd = true
      hasEndMarker = true
    }
  }

  /// Processes an invalid fdAT chunk. If the chunk continues the data of the open frame, this frame is lost. If the
  /// chunk follows a chunk of another type, which may have been a damaged fcTL, it belongs to an unknown frame, and the
  /// open frame is kept.
  private mutating func rejectFrameData(_ detail: String) throws(AnimatedImageError) {
    if animation.phase == .frames, animation.lastType == .frameData {
      animation.openPicture = nil
    } else {
      try closePicture(at: chunkOffset)
    }
    rejectFrame(detail)
  }

  /// Closes the open picture, whose data is complete. The picture becomes a frame or the static image.
  ///
  /// - Parameter offset: The current file offset, which is used in reports.
  mutating func closePicture(at offset: Int) throws(AnimatedImageError) {
    guard let picture = animation.openPicture else {
      if animation.pendingControl != nil, animation.phase == .frames {
        note(
          .pngFrameWithoutData, "an fcTL chunk is not followed by fdAT chunks",
          frame: image.frames.count, at: offset)
        animation.pendingControl = nil
      }
      return
    }
    animation.openPicture = nil
    guard let frame = try frame(of: picture) else { return }
    if picture.control == nil {
      image.staticImage = frame
    } else {
      image.frames.append(frame)
      if image.frames.count == animation.announcedFrames { animation.isListEnded = true }
    }
  }

  /// Returns the frame control of a picture, or nil if IHDR was not read yet.
  func makeFrame(_ picture: PNGAnimationState.OpenPicture, isIndependent: Bool) -> FrameControl? {
    guard let header = image.header else { return nil }
    let control = picture.control
    return FrameControl(
      index: control == nil ? 0 : image.frames.count,
      rect: control?.rect ?? PixelRect(header.canvasSize),
      delay: control?.delay ?? FrameDelay(numerator: 0, denominator: 100),
      disposal: control?.disposal ?? .keep, blend: control?.blend ?? .source,
      isIndependent: isIndependent, isInterlaced: header.isInterlaced,
      palette: header.colorType == 3 ? .global : .none, byteRange: picture.start..<picture.end)
  }

  private mutating func frame(
    of picture: PNGAnimationState.OpenPicture
  ) throws(AnimatedImageError) -> FrameControl? {
    guard let header = image.header else { return nil }
    guard let control = picture.control else {
      return makeFrame(picture, isIndependent: true)
    }
    let index = image.frames.count
    try workBudget.charge(frame: index, area: control.rect.size.area, at: picture.start)
    let canvas = PixelRect(header.canvasSize)
    let isOpaque = header.colorType & 4 == 0 && !animation.hasTransparency
    let isIndependent = independence.add(
      rect: control.rect, canvas: canvas, disposal: control.disposal,
      coversOpaquely: control.rect.contains(canvas) && (control.blend == .source || isOpaque))
    return makeFrame(picture, isIndependent: isIndependent)
  }

  /// Processes a violation of the rules about frames. If the image data has not begun, the file becomes a still
  /// picture. Otherwise the list of frames ends.
  mutating func rejectFrame(_ detail: String) {
    if animation.phase == .beforeData {
      breakAnimation(detail)
      return
    }
    animation.isListEnded = true
    animation.pendingControl = nil
    note(.pngFrameInvalid, detail, frame: image.frames.count)
  }

  mutating func breakAnimation(_ detail: String, at offset: Int? = nil) {
    animation.isBroken = true
    animation.pendingControl = nil
    note(.pngStaticOnly, detail, at: offset ?? chunkOffset)
  }
}

/// The state of the scanner in the sequence of animation chunks (PNG 3rd edition, 4.9.2 and 5.6).
struct PNGAnimationState: Sendable {
  /// The part of the file being read, which determines the chunks that may come next.
  enum Phase: Sendable {
    /// No IDAT was read yet.
    case beforeData
    /// An IDAT was read, but no fcTL or fdAT after it.
    case staticData
    /// An IDAT was read, and an fcTL or fdAT after it.
    case frames
  }

  /// A picture whose data chunks are being skipped.
  struct OpenPicture: Sendable {
    /// The frame control of the picture, or nil if the picture is a static image that is not a frame.
    var control: PNGFrameControl?
    var start: Int
    var end: Int
  }

  struct Fault: Sendable {
    var type: PNGChunkType
    var detail: String
    var offset: Int
  }

  var phase = Phase.beforeData
  /// The number of frames that acTL announces, or nil if there is no valid acTL.
  var announcedFrames: Int?
  /// Whether an error before the image data has made the file a still picture.
  var isBroken = false
  /// Whether the list of frames has ended. It ends at an error, or when it contains as many frames as announced.
  var isListEnded = false
  /// The first error in an acTL or fcTL before the image data, and its offset. It is kept because a valid chunk may
  /// still replace the invalid chunk; browsers skip chunks that they cannot read.
  var fault: Fault?
  /// The sequence number of the next fcTL or fdAT. It can wrap around only in a file of at least 64 GiB.
  var nextSequence: UInt32 = 0
  /// The last fcTL, if the data of its frame has not begun.
  var pendingControl: PNGFrameControl?
  var openPicture: OpenPicture?
  /// The type of the last chunk read. It is used to detect chunks of other types between data chunks.
  var lastType = PNGChunkType.header
  var hasTransparency = false
  /// Whether a tRNS chunk was used, even if all of its colours are opaque.
  var hasReadTransparency = false
  /// Whether an fcTL was read, valid or not.
  var hasFrameControl = false
  /// Whether the image data in the IDAT chunks is frame 0.
  var hasStaticFrame = false

  /// Whether frames are being collected.
  var isAnimated: Bool { announcedFrames != nil && !isBroken }
}
