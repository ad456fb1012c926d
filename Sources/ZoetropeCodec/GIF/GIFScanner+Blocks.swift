extension GIFScanner {
  /// Signature and logical screen descriptor (GIF89a sections 17 and 18).
  ///
  ///     size  field
  ///        6  "GIF87a" or "GIF89a"
  ///        4  width and height of the screen
  ///        1  flags: bit 7 global palette, bits 0...2 its size
  ///        2  background index, pixel aspect ratio: not used, as in browsers
  mutating func readHeader() throws(AnimatedImageError) {
    let bytes = collector.bytes
    let signature = String(decoding: bytes[0..<6], as: UTF8.self)
    guard signature == "GIF87a" || signature == "GIF89a" else {
      throw AnimatedImageError(.notAnImage, "no GIF or PNG signature", byteOffset: 0)
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
      note(.gifStrayByte, "byte \(introducer) starts no block, reading ends", at: blockOffset)
      isAtEnd = true
    }
  }

  /// The image descriptor at `position`: where it lies, when it lies there whole; nil when more bytes
  /// are needed.
  mutating func descriptor(
    in bytes: borrowing RawSpan, at position: inout Int
  ) -> GIFImageDescriptor? {
    if collector.bytes.isEmpty, position <= bytes.byteCount - GIFImageDescriptor.size {
      defer { position += GIFImageDescriptor.size }
      return GIFImageDescriptor(bytes, at: position)
    }
    guard collector.collect(GIFImageDescriptor.size, from: bytes, at: &position) else { return nil }
    // The collector is not changed while the span is used.
    return unsafe GIFImageDescriptor(collector.bytes.span.bytes, at: 0)
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
        .gifTransparentIndex, "index \(transparent) of \(colors) colours", frame: index,
        at: blockOffset)
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

  /// A later frame that is larger than any canvas may be ends the list, and those before it stand: in
  /// Chromium one whose data end too early fails alone. Nobody asks for memory of its size.
  private mutating func endList(before rect: PixelRect) {
    note(
      .missingFrames, "a frame of \(rect.size) passes canvasPixels, reading ends",
      frame: image.frames.count, at: blockOffset)
    isAtEnd = true
  }

  /// The canvas grows right and down to hold the first frame, and only that one; a frame without
  /// pixels has an extent too, as in Chromium.
  private mutating func growCanvas(toHold rect: PixelRect) throws(AnimatedImageError) {
    let grown = PixelSize(
      width: max(screen.width, rect.maxX), height: max(screen.height, rect.maxY))
    guard grown != screen else { return }
    try workBudget.checkCanvas(grown, at: blockOffset)
    image.header?.canvasSize = grown
    note(.gifCanvasGrown, "screen \(screen), canvas \(grown)", frame: 0, at: blockOffset)
  }

  private mutating func noteFrame(_ index: Int, _ rect: PixelRect, hasPalette: Bool) {
    let canvas = PixelRect(image.header?.canvasSize ?? screen)
    if rect.isEmpty {
      note(.gifEmptyFrame, "frame of \(rect.size)", frame: index, at: blockOffset)
    } else if !canvas.contains(rect) {
      note(.gifFrameOutside, "\(rect) on \(canvas.size)", frame: index, at: blockOffset)
    }
    if !hasPalette {
      note(.gifNoPalette, "no local and no global palette", frame: index, at: blockOffset)
    }
  }

  /// The block terminator was read at `end`: the frame is complete.
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
        throw AnimatedImageError(.notAnImage, "no GIF or PNG signature", byteOffset: 0)
      }
      throw AnimatedImageError(.truncated, "\(end) bytes, a GIF header has 13", byteOffset: end)
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
