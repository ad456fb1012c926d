/// Reads the block structure of a GIF (GIF89a sections 15 to 27) from bytes that are fed in pieces.
///
/// Browsers differ on damaged files. This scanner follows Chromium, except that it also keeps complete frames that
/// Chromium drops. Each deviation from the format is recorded as a ``Damage``.
package struct GIFScanner: Scanning {
  package internal(set) var image = ScannedImage()
  package internal(set) var isAtEnd = false

  enum State: Sendable {
    case header
    case globalPalette(entries: Int)
    case introducer
    case extensionLabel
    case extensionLength
    case extensionBody(remaining: Int)
    case descriptor
    case localPalette(remaining: Int)
    case minimumCodeSize
    case imageData(remaining: Int)
    case trailer
  }

  var state = State.header
  var collector = ByteCollector()
  var control: GIFGraphicControl?
  var extensionBlock: GIFExtension?
  /// The frame being read. Its byte range is set when the end of the frame's data is reached.
  var openFrame: FrameControl?
  var blockOffset = 0
  var independence = IndependenceTracker()
  var metadataBudget: MetadataBudget
  var workBudget: WorkBudget
  /// The logical screen size in the file's header. The canvas may be larger, because it is enlarged to contain the
  /// first frame.
  var screen = PixelSize(width: 0, height: 0)

  package init(limits: DecodingLimits = .default) {
    metadataBudget = MetadataBudget(limits: limits)
    workBudget = WorkBudget(limits: limits, format: .gif)
  }

  package var isComplete: Bool {
    if case .trailer = state { true } else { isAtEnd }
  }

  package var hasEndMarker: Bool {
    if case .trailer = state { true } else { false }
  }

  package mutating func keepFrames(_ count: Int) {
    image.frames.removeLast(max(image.frames.count - count, 0))
  }

  package var isCanvasKnown: Bool { openFrame != nil || !image.frames.isEmpty }

  package var arrivingFrame: FrameControl? {
    var frame = isAtEnd ? nil : openFrame
    frame?.end(at: image.byteCount)
    return frame
  }

  // There is no `skippableByteCount`: a sub-block has at most 255 bytes, and its length byte must be read to find the
  // next sub-block.

  package mutating func passOver(_ count: Int) -> Bool {
    guard case .imageData(let remaining) = state, count <= remaining else { return false }
    state = .imageData(remaining: remaining - count)
    image.byteCount += count
    return true
  }

  package mutating func feed(_ bytes: borrowing RawSpan) throws(AnimatedImageError) {
    var position = 0
    let start = image.byteCount
    while position < bytes.byteCount, !isAtEnd {
      if case .trailer = state {
        note(.trailingData, "there are bytes after the trailer", at: start + position)
        isAtEnd = true
      } else {
        try step(bytes, at: &position, base: start)
        image.byteCount = start + position
      }
    }
    // If reading has ended, the remaining bytes are not counted in `byteCount`.
    if !isAtEnd { image.byteCount = start + bytes.byteCount }
  }

  /// Reads one record, or as much of it as is available.
  private mutating func step(
    _ bytes: borrowing RawSpan, at position: inout Int, base: Int
  ) throws(AnimatedImageError) {
    switch state {
    case .header:
      guard collector.collect(13, from: bytes, at: &position) else { return }
      try readHeader()
    case .globalPalette(let entries):
      guard collector.collect(entries * 3, from: bytes, at: &position) else { return }
      image.header?.palette = collector.bytes.paletteWords
      next(.introducer)
    case .introducer:
      blockOffset = base + position
      if readPlainControl(bytes, at: &position) || readInPlace(bytes, at: &position) { return }
      let introducer = bytes[position]
      position += 1
      readIntroducer(introducer)
    case .extensionLabel:
      extensionBlock = GIFExtension(
        label: bytes[position], offset: blockOffset,
        byteLimit: metadataBudget.limits.metadataBytes)
      position += 1
      next(.extensionLength)
    case .extensionLength:
      readSubBlocks(bytes, at: &position)
    case .extensionBody(let remaining):
      let count = min(remaining, bytes.byteCount - position)
      extensionBlock?.append(bytes.extracting(position..<position + count))
      position += count
      next(count == remaining ? .extensionLength : .extensionBody(remaining: remaining - count))
    case .descriptor:
      guard let descriptor = descriptor(in: bytes, at: &position) else { return }
      try read(descriptor)
    case .localPalette(let remaining):
      // The colours are skipped. The decoder reads them, because they are stored next to the pixels.
      let count = min(remaining, bytes.byteCount - position)
      position += count
      next(count == remaining ? .minimumCodeSize : .localPalette(remaining: remaining - count))
    case .minimumCodeSize:
      position += 1
      next(.imageData(remaining: 0))
    case .imageData(let remaining):
      skipImageData(bytes, at: &position, remaining: remaining, base: base)
    case .trailer:
      break
    }
  }

  mutating func next(_ state: State) {
    collector.reset()
    self.state = state
  }

  /// Skips the data sub-blocks (section 15) of an image up to and including the terminator.
  ///
  /// - Parameter remaining: The number of bytes of the current sub-block still to come.
  private mutating func skipImageData(
    _ bytes: borrowing RawSpan, at position: inout Int, remaining: Int, base: Int
  ) {
    var place = position + remaining
    while place < bytes.byteCount {
      let size = bytes[place]
      place += 1 + Int(size)
      if size == 0 {
        position = place
        return endFrame(at: base + place)
      }
      // Most encoders use one size for all sub-blocks but the last. The comparison below is a predicted branch,
      // so the processor loads the next length byte before the current one has arrived from memory. If the loaded
      // length were added instead, each step would have to wait for memory.
      while place < bytes.byteCount, bytes[place] == size { place += 1 + Int(size) }
    }
    position = bytes.byteCount
    next(.imageData(remaining: place - bytes.byteCount))
  }

  /// Records a deviation from the format.
  mutating func note(
    _ kind: Damage.Kind, _ detail: @autoclosure () -> String, frame: Int? = nil, at offset: Int
  ) {
    image.note(kind, detail(), frame: frame, at: offset)
  }
}

extension GIFScanner {
  /// Reads the signature and the logical screen descriptor (GIF89a sections 17 and 18).
  ///
  ///     size  field
  ///        6  "GIF87a" or "GIF89a"
  ///        4  width and height of the logical screen
  ///        1  flags: bit 7 presence of a global palette, bits 0...2 its size
  ///        2  background index, pixel aspect ratio: not used, as in browsers
  mutating func readHeader() throws(AnimatedImageError) {
    let bytes = collector.bytes
    let signature = String(decoding: bytes[0..<6], as: UTF8.self)
    guard signature == "GIF87a" || signature == "GIF89a" else {
      throw FormatTable.noSignature
    }
    screen = PixelSize(
      width: Int(bytes.littleEndian16(at: 6)), height: Int(bytes.littleEndian16(at: 8)))
    try workBudget.checkCanvas(screen, at: 6)
    image.header = ImageHeader(format: .gif, canvasSize: screen)
    next(bytes[10] & 0x80 != 0 ? .globalPalette(entries: 2 << Int(bytes[10] & 7)) : .introducer)
  }

  mutating func readIntroducer(_ introducer: UInt8) {
    switch introducer {
    case 0x21: next(.extensionLabel)
    case 0x2c: next(.descriptor)
    case 0x3b:
      endControl()
      next(.trailer)
    default:
      note(
        .gifStrayByte, "no block begins with the value \(introducer), so reading stops here",
        at: blockOffset)
      isAtEnd = true
    }
  }

  /// Reads an image descriptor. If all its bytes are available at `position`, they are read in place; otherwise they
  /// are collected. Returns nil if more bytes are needed.
  mutating func descriptor(
    in bytes: borrowing RawSpan, at position: inout Int
  ) -> GIFImageDescriptor? {
    if collector.bytes.isEmpty, position <= bytes.byteCount - GIFImageDescriptor.size {
      defer { position += GIFImageDescriptor.size }
      return GIFImageDescriptor(bytes, at: position)
    }
    guard collector.collect(GIFImageDescriptor.size, from: bytes, at: &position) else { return nil }
    return GIFImageDescriptor(collector.bytes.rawBytes, at: 0)
  }

  mutating func read(_ descriptor: GIFImageDescriptor) throws(AnimatedImageError) {
    let rect = descriptor.rect
    let index = image.frames.count
    if index > 0, rect.size.area > workBudget.limits.canvasPixels { return endList(before: rect) }
    try workBudget.charge(frame: index, area: rect.size.area, at: blockOffset)
    if index == 0 { try growCanvas(toHold: rect) }
    let localCount = descriptor.paletteCount
    noteFrame(index, rect, hasPalette: localCount > 0 || image.header?.palette.isEmpty == false)
    let graphic = control ?? GIFGraphicControl()
    control = nil
    let colors = localCount > 0 ? localCount : image.header?.palette.count ?? 0
    if let transparent = graphic.transparentIndex, colors > 0, Int(transparent) >= colors {
      note(
        .gifTransparentIndex,
        "the transparent index is \(transparent), but there are only \(colors) colours",
        frame: index, at: blockOffset)
    }
    let canvas = PixelRect(image.header?.canvasSize ?? screen)
    let isIndependent = independence.add(
      rect: rect, canvas: canvas, disposal: graphic.disposal,
      coversOpaquely: graphic.transparentIndex == nil && rect.contains(canvas))
    openFrame = FrameControl(
      index: index, rect: rect, delay: graphic.delay, disposal: graphic.disposal, blend: .over,
      isIndependent: isIndependent, isInterlaced: descriptor.isInterlaced,
      palette: localCount > 0 ? .local : image.header?.palette.isEmpty == false ? .global : .none,
      byteRange: blockOffset..<blockOffset,
      localPaletteCount: localCount, transparentIndex: graphic.transparentIndex)
    next(localCount > 0 ? .localPalette(remaining: localCount * 3) : .minimumCodeSize)
  }

  /// Ends the list of frames before a frame that is larger than any allowed canvas, and keeps the earlier frames.
  /// Chromium keeps them too: if the data of the large frame ends too early, Chromium rejects only that frame. No
  /// memory of the size of the large frame is allocated.
  private mutating func endList(before rect: PixelRect) {
    note(
      .missingFrames,
      "a frame of \(rect.size) is larger than a canvas may be, so reading stops here",
      frame: image.frames.count, at: blockOffset)
    isAtEnd = true
  }

  /// Grows the canvas to the right and down to contain the first frame. Later frames do not grow it. As in Chromium,
  /// the first frame counts even if it has no pixels because a side of its rectangle is 0.
  private mutating func growCanvas(toHold rect: PixelRect) throws(AnimatedImageError) {
    let grown = PixelSize(
      width: max(screen.width, rect.maxX), height: max(screen.height, rect.maxY))
    guard grown != screen else { return }
    try workBudget.checkCanvas(grown, at: blockOffset)
    image.header?.canvasSize = grown
    let screen = screen
    note(
      .gifCanvasGrown, "the logical screen of \(screen) is enlarged to \(grown)", frame: 0,
      at: blockOffset)
  }

  private mutating func noteFrame(_ index: Int, _ rect: PixelRect, hasPalette: Bool) {
    let canvas = PixelRect(image.header?.canvasSize ?? screen)
    if rect.isEmpty {
      note(.gifEmptyFrame, "the frame of \(rect.size) has no pixels", frame: index, at: blockOffset)
    } else if !canvas.contains(rect) {
      note(
        .gifFrameOutside, "the frame \(rect) is not within the canvas of \(canvas.size)",
        frame: index, at: blockOffset)
    }
    if !hasPalette {
      note(
        .gifNoPalette, "there is neither a local nor a global palette", frame: index,
        at: blockOffset)
    }
  }

  /// Completes the open frame. `end` is the offset just past the frame's block terminator.
  mutating func endFrame(at end: Int) {
    if let frame = closedFrame(at: end) { image.frames.append(frame) }
    next(.introducer)
  }

  private mutating func closedFrame(at end: Int) -> FrameControl? {
    defer { openFrame = nil }
    openFrame?.end(at: end)
    return openFrame
  }

  package mutating func finish() throws(AnimatedImageError) {
    let end = image.byteCount
    switch state {
    case .header:
      guard Array("GIF8".utf8).starts(with: collector.bytes.prefix(4)) else {
        throw FormatTable.noSignature
      }
      throw AnimatedImageError(
        .truncated, "the file has \(end) bytes, but a GIF header has 13", byteOffset: end)
    case .trailer: break
    case _ where isAtEnd: break
    case .introducer:
      endControl()
      note(.missingTrailer, "the data ends without a trailer", at: end)
    case .imageData, .minimumCodeSize, .localPalette:
      image.cutFrame = closedFrame(at: end)
      note(.cutBlock, "the data ends before the end of a frame", frame: image.frames.count, at: end)
    default:
      note(.cutBlock, "the data ends inside a block", at: end)
    }
    isAtEnd = true
  }
}

/// An image descriptor (GIF89a section 20) without its separator.
///
///     size  field
///        8  left, top, width, height
///        1  flags: bit 7 presence of a local palette, bit 6 interlacing, bits 0...2 size of the palette
struct GIFImageDescriptor {
  let rect: PixelRect
  /// The number of entries of the local palette, or 0 if there is none.
  let paletteCount: Int
  let isInterlaced: Bool

  /// The number of bytes in a descriptor.
  static let size = 9

  /// Reads the descriptor at `offset` of `bytes`, which must contain the whole descriptor.
  init(_ bytes: borrowing RawSpan, at offset: Int) {
    let numbers = UInt64(littleEndian: bytes.load(UInt64.self, at: offset))
    rect = PixelRect(
      x: Int(numbers & 0xffff), y: Int(numbers >> 16 & 0xffff), width: Int(numbers >> 32 & 0xffff),
      height: Int(numbers >> 48))
    let flags = bytes[offset + 8]
    paletteCount = flags & 0x80 != 0 ? 2 << Int(flags & 7) : 0
    isInterlaced = flags & 0x40 != 0
  }
}
