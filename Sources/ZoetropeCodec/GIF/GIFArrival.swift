/// Decodes a GIF frame while its bytes arrive.
struct GIFArrival: ArrivalDecoding {
  let pixels: FramePixels
  private(set) var progress = ArrivalProgress()
  /// The pixels in the order in which they are stored. This is the same object as ``pixels`` unless the frame is
  /// interlaced.
  private let stored: FramePixels
  private let control: FrameControl
  private let header: ImageHeader
  /// The bytes of the image descriptor, the local palette and the minimum code size received so far.
  private var head: [UInt8] = []
  /// The number of bytes of the current sub-block still to come.
  private var blockRest = 0
  /// The bytes of LZW codes that were received but not yet expanded.
  private var codes: [UInt8] = []
  private var decoder = LZWDecoder()
  private var cursor: LZWCursor?
  private var isOver: Bool

  init(_ control: FrameControl, _ header: ImageHeader) throws(AnimatedImageError) {
    self.control = control
    self.header = header
    let count = control.rect.size.area
    isOver = count == 0
    pixels = FramePixels()
    stored = control.isInterlaced ? FramePixels() : pixels
    let byteCount = LZWDecoder.headroom + count + LZWDecoder.slack
    try pixels.reserve(byteCount: byteCount)
    try stored.reserve(byteCount: byteCount)
  }

  private var headCount: Int { GIFFastDecoder.descriptorCount + 3 * control.localPaletteCount + 1 }

  mutating func feed(_ bytes: borrowing RawSpan) {
    var position = 0
    if head.count < headCount {
      position = min(headCount - head.count, bytes.byteCount)
      head.append(copying: bytes.extracting(first: position))
      guard head.count == headCount else { return }
      begin()
    }
    guard !isOver else { return }
    let isEnded = join(bytes, from: position)
    expand()
    if isEnded { isOver = true }
  }

  /// Sets the size and colours of ``pixels`` once ``head`` is complete.
  private mutating func begin() {
    // The reference is copied because a span of the property would borrow all of `self`.
    let head = head
    pixels.prepare(
      control, header: header,
      localPalette: head.rawBytes.extracting(GIFFastDecoder.descriptorCount..<headCount - 1))
    pixels.content.offset = LZWDecoder.headroom
    pixels.content.bytesPerRow = pixels.content.width
    // ``takeRows(upTo:)`` puts interlaced rows in picture order as they arrive.
    pixels.content.isInterlaced = false
    if !LZWDecoder.minimumCodeSizes.contains(Int(head[headCount - 1])) { isOver = true }
  }

  /// Appends the payload of the sub-blocks in `bytes`, from offset `start` on, to ``codes``. Returns whether the block
  /// terminator was reached.
  private mutating func join(_ bytes: borrowing RawSpan, from start: Int) -> Bool {
    var position = start
    while position < bytes.byteCount {
      if blockRest == 0 {
        blockRest = Int(bytes[position])
        position += 1
        if blockRest == 0 { return true }
      } else {
        let count = min(blockRest, bytes.byteCount - position)
        codes.append(copying: bytes.extracting(position..<position + count))
        blockRest -= count
        position += count
      }
    }
    return false
  }

  private mutating func expand() {
    let (width, height) = (control.rect.width, control.rect.height)
    let result = decoder.expandMore(
      &codes, at: &cursor, minimumCodeSize: Int(head[headCount - 1]), into: stored.storage,
      count: width * height)
    if result.status != .dataExhausted { isOver = true }
    if control.isInterlaced {
      takeRows(upTo: result.pixelCount / width)
    } else {
      pixels.content.validPixels = result.pixelCount
      progress.completeRows = result.pixelCount / width
      progress.shownRows = (result.pixelCount + width - 1) / width
      if progress.completeRows == height { progress.completePasses = 1 }
    }
  }

  /// The number of stored rows already copied to ``pixels``.
  private var takenRows = 0

  /// Copies the stored rows before row `end` to ``pixels``. Until later passes arrive, a row of an early pass fills
  /// several rows of the picture.
  private mutating func takeRows(upTo end: Int) {
    let (width, height) = (control.rect.width, control.rect.height)
    let source = stored.storage
    var first = 0
    for (number, pass) in GIFInterlace.passes.enumerated() {
      let count = pass.count(height: height)
      for line in max(takenRows - first, 0)..<max(min(end - first, count), takenRows - first, 0) {
        let row = pass.start + line * pass.step
        let start = LZWDecoder.headroom + (first + line) * width
        let bytes = source.bytes.extracting(start..<start + width)
        for y in row..<min(row + pass.span, height) {
          pixels.store(bytes, at: LZWDecoder.headroom + y * width)
        }
        if number == 0 { progress.shownRows = min(row + pass.span, height) }
      }
      if end - first >= count, progress.completePasses == number {
        progress.completePasses = number + 1
      }
      if number == 3, progress.completePasses >= 3 {
        progress.completeRows = min(max(end - first, 0) * 2 + 1, height)
      }
      first += count
    }
    takenRows = end
    if end > 0, progress.completePasses > 0 { progress.shownRows = height }
    pixels.content.validPixels = progress.shownRows * width
  }
}
