extension GIFScanner {
  /// Reads the available sub-blocks of an extension, starting with a length byte at `position`.
  mutating func readSubBlocks(_ bytes: borrowing RawSpan, at position: inout Int) {
    while position < bytes.byteCount {
      let size = Int(bytes[position])
      position += 1
      if size == 0 { return endExtension() }
      extensionBlock?.beginBlock(size: size)
      let count = min(size, bytes.byteCount - position)
      extensionBlock?.append(bytes.extracting(position..<position + count))
      position += count
      if count < size { return next(.extensionBody(remaining: size - count)) }
    }
  }

  /// Processes an extension whose terminator was read.
  private mutating func endExtension() {
    defer {
      extensionBlock = nil
      next(.introducer)
    }
    guard let block = extensionBlock else { return }
    switch block.label {
    case GIFExtension.graphicControl: readControl(block)
    case GIFExtension.comment: keepComment(block)
    case GIFExtension.application: readApplication(block)
    default: break
    }
  }

  /// Reads a graphic control in place if all its bytes are available and it has the usual form. Otherwise does nothing
  /// and returns false.
  ///
  /// Nearly every frame has a graphic control, and most frames have no other extension. Collecting the bytes of a
  /// control, as for other extensions, would take longer than reading the rest of the frame's structure.
  mutating func readPlainControl(_ bytes: borrowing RawSpan, at position: inout Int) -> Bool {
    let start = position
    guard bytes.hasPlainControl(at: start) else { return false }
    use(
      flags: bytes[start + 3],
      delay: UInt16(bytes[start + 4]) | UInt16(bytes[start + 5]) << 8, index: bytes[start + 6],
      at: blockOffset)
    position = start + 8
    return true
  }

  /// Reads an extension in place if all its bytes are available and it is one of three kinds: a graphic control, a loop
  /// count, or an extension that is skipped. Otherwise does nothing and returns false.
  ///
  /// A file may have thousands of such extensions before each frame.
  mutating func readInPlace(_ bytes: borrowing RawSpan, at position: inout Int) -> Bool {
    let start = position
    guard start <= bytes.byteCount - 3, bytes[start] == 0x21 else { return false }
    let label = bytes[start + 1]
    switch label {
    case GIFExtension.graphicControl:
      // Controls of the usual form were read before, so this control has an unusual size.
      let size = bytes[start + 2]
      guard size >= 4, let end = bytes.endOfSubBlocks(at: start + 2) else { return false }
      noteControlSize(Int(size), at: blockOffset)
      use(
        flags: bytes[start + 3],
        delay: UInt16(bytes[start + 4]) | UInt16(bytes[start + 5]) << 8, index: bytes[start + 6],
        at: blockOffset)
      position = end
      return true
    case GIFExtension.application where bytes.hasLoopIdentifier(at: start + 2):
      guard bytes.hasPlainLoopCount(at: start + 14) else { return false }
      setLoopCount(
        UInt32(bytes[start + 16]) | UInt32(bytes[start + 17]) << 8, at: blockOffset)
      position = start + 19
      return true
    case GIFExtension.application, GIFExtension.comment:
      guard metadataBudget.isFull, let end = bytes.endOfSubBlocks(at: start + 2) else {
        return false
      }
      leaveOutMetadata(at: blockOffset)
      position = end
      return true
    default:
      guard let end = bytes.endOfSubBlocks(at: start + 2) else { return false }
      position = end
      return true
    }
  }

  private mutating func readControl(_ block: GIFExtension) {
    if block.firstBlockSize != 4 || block.blockCount != 1 {
      noteControlSize(block.firstBlockSize, at: block.offset)
    }
    let bytes = block.firstBlock
    guard bytes.count >= 4 else { return }
    use(flags: bytes[0], delay: bytes.littleEndian16(at: 1), index: bytes[3], at: block.offset)
  }

  private mutating func noteControlSize(_ size: Int, at offset: Int) {
    note(
      .gifControlSize,
      "a graphic control extension is not one block of 4 bytes; its first block has \(size)",
      frame: image.frames.count,
      at: offset)
  }

  /// Stores the values of a graphic control until the next image descriptor is read.
  private mutating func use(flags: UInt8, delay: UInt16, index: UInt8, at offset: Int) {
    if control != nil {
      note(
        .gifControlUnused, "two graphic control extensions precede one image",
        frame: image.frames.count, at: offset)
    }
    let parsed = GIFGraphicControl(flags: flags, delay: delay, index: index)
    if parsed.hasReservedDisposal {
      note(
        .gifReservedDisposal, "the disposal method is \(flags >> 2 & 7), a reserved value",
        frame: image.frames.count,
        at: offset)
    }
    control = parsed
  }

  /// Records a deviation if the last graphic control is not followed by an image.
  mutating func endControl() {
    guard control != nil else { return }
    note(
      .gifControlUnused, "a graphic control extension is not followed by an image", at: blockOffset)
  }

  private mutating func keepComment(_ block: GIFExtension) {
    guard admits(block) else { return }
    image.metadata.texts.append(.init(key: "Comment", value: Self.text(ofComment: block.payload)))
  }

  /// Decodes a comment. The specification asks for ASCII. Other comments are UTF-8 or, in files of older programs,
  /// Latin-1.
  private static func text(ofComment bytes: [UInt8]) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    // Programs that limit the number of bytes may cut UTF-8 within a character. If the text before that character is
    // ASCII and only one byte of the character is left, this is more likely Latin-1 that ends in an accented letter.
    let start = bytes.lastIndex { $0 & 0xc0 != 0x80 } ?? 0
    let (first, count) = (bytes[start], bytes.count - start)
    if (0xc2...0xf4).contains(first), count < (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2),
      let text = String(validating: bytes[..<start], as: UTF8.self),
      count > 1 || text.utf8.contains(where: { $0 >= 0x80 })
    {
      return text
    }
    return String(latin1: bytes[...])
  }

  private mutating func readApplication(_ block: GIFExtension) {
    if block.isLoopBlock {
      readLoop(block)
      return
    }
    guard admits(block) else { return }
    if block.isXMP {
      image.metadata.xmp = block.xmpPacket
    } else if block.firstBlock == Array("ICCRGBG1012".utf8) {
      image.metadata.iccProfile = block.payload
    }
    image.metadata.applicationBlocks.append(
      .init(
        identifier: block.identifier, byteCount: block.payloadSize, byteOffset: block.offset))
  }

  private mutating func readLoop(_ block: GIFExtension) {
    guard let count = block.loopCount else {
      note(.gifLoopBlock, "a loop block has no loop count", at: block.offset)
      return
    }
    if block.payloadSize != 3 {
      note(
        .gifLoopBlock, "a loop block has \(block.payloadSize) bytes instead of 3", at: block.offset)
    }
    setLoopCount(count, at: block.offset)
  }

  private mutating func setLoopCount(_ count: UInt32, at offset: Int) {
    if image.storedLoopCount != nil {
      note(.gifLoopTwice, "there is another loop count, \(count)", at: offset)
    }
    image.storedLoopCount = count
  }

  private mutating func admits(_ block: GIFExtension) -> Bool {
    let isAdmitted = !block.isCut && metadataBudget.admits(byteCount: block.payloadSize)
    if !isAdmitted { leaveOutMetadata(at: block.offset) }
    return isAdmitted
  }

  /// Records that metadata past the limits is dropped. Only the first call records it.
  private mutating func leaveOutMetadata(at offset: Int) {
    if metadataBudget.leaveOut() {
      note(.metadataLimit, "metadata that exceeds the limits is dropped", at: offset)
    }
  }
}

extension RawSpan {
  /// Returns whether all bytes of a graphic control (GIF89a section 23) with a single four-byte sub-block are available
  /// at `offset`. Nearly all controls have this form.
  func hasPlainControl(at offset: Int) -> Bool {
    offset <= byteCount - 8 && self[offset] == 0x21
      && self[offset + 1] == GIFExtension.graphicControl && self[offset + 2] == 4
      && self[offset + 7] == 0
  }

  /// Returns whether a complete sub-block with the identifier of a loop block lies at `offset`.
  package func hasLoopIdentifier(at offset: Int) -> Bool {
    guard offset <= byteCount - 12, self[offset] == 11 else { return false }
    let identifier = extracting(offset + 1..<offset + 12)
    for known in GIFExtension.loopIdentifiers where identifier.hasSameBytes(as: known.rawBytes) {
      return true
    }
    return false
  }

  /// Returns whether a complete sub-block with a loop count lies at `offset`, followed by the terminator.
  fileprivate func hasPlainLoopCount(at offset: Int) -> Bool {
    offset <= byteCount - 5 && self[offset] == 3 && self[offset + 1] == 1 && self[offset + 4] == 0
  }

  /// Returns the offset just past the terminator of the sub-blocks that start at `offset`, or nil if the terminator is
  /// not available yet.
  package func endOfSubBlocks(at offset: Int) -> Int? {
    var place = offset
    while place < byteCount {
      let size = Int(self[place])
      place += 1 + size
      if size == 0 { return place }
    }
    return nil
  }
}

/// A graphic control extension (GIF89a section 23), which describes the next image.
///
///     size  field
///        1  flags: bits 2...4 disposal method, bit 0 transparency
///        2  delay in hundredths of a second
///        1  transparent index
struct GIFGraphicControl: Sendable {
  var disposal = DisposalMethod.keep
  var delay = FrameDelay(centiseconds: 0)
  var transparentIndex: UInt8?
  /// Whether the disposal method is one of the four reserved values.
  var hasReservedDisposal = false

  init() {}

  init(flags: UInt8, delay: UInt16, index: UInt8) {
    let method = flags >> 2 & 7
    // Browsers treat the reserved value 4 as "restore to previous", because an early editor wrote 4 for that method.
    // The values 5 to 7 have no meaning.
    disposal =
      switch method {
      case 2: .background
      case 3, 4: .previous
      default: .keep
      }
    hasReservedDisposal = method > 3
    self.delay = FrameDelay(centiseconds: delay)
    transparentIndex = flags & 1 == 1 ? index : nil
  }
}

/// An extension block that is being read, with the contents of the sub-blocks that may be needed.
struct GIFExtension: Sendable {
  let label: UInt8
  /// The file offset of the extension introducer.
  let offset: Int
  /// The number of sub-blocks whose length byte was read.
  private(set) var blockCount = 0
  private(set) var firstBlockSize = 0
  private var secondBlockSize = 0
  /// The contents of the first sub-block: in an application extension, the identifier and the authentication code. The
  /// array is empty for a comment.
  private(set) var firstBlock: [UInt8] = []
  /// In a comment, the joined contents of all sub-blocks; in an application extension, those of all sub-blocks after
  /// the first. They are truncated at the limit. In other extensions, the array is empty.
  private(set) var payload: [UInt8] = []
  /// For an XMP extension, the same bytes as in ``payload``, but with the length bytes of the sub-blocks, which are
  /// part of the XMP packet.
  private(set) var rawPayload: [UInt8] = []
  private(set) var payloadSize = 0
  private let byteLimit: Int

  init(label: UInt8, offset: Int, byteLimit: Int) {
    self.label = label
    self.offset = offset
    self.byteLimit = byteLimit
  }

  static let graphicControl: UInt8 = 0xf9
  static let comment: UInt8 = 0xfe
  static let application: UInt8 = 0xff
  /// The identifiers of the application extensions that contain a loop count.
  static let loopIdentifiers = ["NETSCAPE2.0", "ANIMEXTS1.0"].map { Array($0.utf8) }

  /// Whether this is an XMP extension. The value is valid once the second sub-block has begun.
  private(set) var isXMP = false
  /// Whether the payload exceeds the limit, so that ``payload`` is truncated.
  var isCut: Bool { payloadSize > payload.count }

  /// The identifier and the authentication code of an application extension. Bytes that are not valid UTF-8 are
  /// replaced.
  var identifier: String { String(decoding: firstBlock, as: UTF8.self) }

  /// Begins a sub-block of `size` bytes.
  mutating func beginBlock(size: Int) {
    blockCount += 1
    if blockCount == 1 { firstBlockSize = size }
    if blockCount == 2 { secondBlockSize = size }
    if blockCount == 2, label == Self.application {
      isXMP = firstBlock == Array("XMP DataXMP".utf8)
    }
    if isXMP, blockCount > 1, rawPayload.count < byteLimit { rawPayload.append(UInt8(size)) }
  }

  /// Appends `bytes`, the next bytes of the current sub-block, to the first block or to the payload.
  mutating func append(_ bytes: borrowing RawSpan) {
    let belongsToHead = blockCount == 1 && label != Self.comment
    if belongsToHead {
      firstBlock.append(copying: bytes)
      return
    }
    payloadSize += bytes.byteCount
    guard label == Self.comment || label == Self.application else { return }
    let kept = min(bytes.byteCount, max(byteLimit - payload.count, 0))
    payload.append(copying: bytes.extracting(first: kept))
    guard isXMP else { return }
    let room = max(byteLimit - rawPayload.count, 0)
    rawPayload.append(copying: bytes.extracting(first: min(kept, room)))
  }

  /// The XMP packet without the 257-byte "magic trailer", which follows the packet so that readers without XMP support
  /// can skip it.
  var xmpPacket: String {
    let trailer = 257
    var packet = rawPayload[...]
    if packet.count >= trailer, packet[packet.count - trailer] == 1 {
      packet = packet.dropLast(trailer)
    }
    return String(decoding: packet, as: UTF8.self)
  }

  /// The loop count of a `NETSCAPE2.0` or `ANIMEXTS1.0` block. It is nil if the second sub-block has fewer than three
  /// bytes or does not begin with 1.
  var loopCount: UInt32? {
    guard isLoopBlock, secondBlockSize >= 3, payload.count >= 3, payload[0] == 1 else { return nil }
    return UInt32(payload.littleEndian16(at: 1))
  }

  var isLoopBlock: Bool {
    label == Self.application && Self.loopIdentifiers.contains(firstBlock)
  }
}
