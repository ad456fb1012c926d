extension GIFScanner {
  /// Handles a complete extension, after its terminator.
  mutating func endExtension() {
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

  /// Reads a graphic control in place, if all of it is available and there is nothing to report.
  ///
  /// Nearly every frame has one and most have no other extension; collecting it like other
  /// extensions takes longer than the rest of the frame's structure.
  mutating func readPlainControl(_ bytes: borrowing RawSpan, at position: inout Int) -> Bool {
    let start = position
    guard control == nil, bytes.hasPlainControl(at: start) else { return false }
    let parsed = GIFGraphicControl(
      flags: bytes[start + 3],
      delay: UInt16(bytes[start + 4]) | UInt16(bytes[start + 5]) << 8, index: bytes[start + 6])
    guard !parsed.hasReservedDisposal else { return false }
    control = parsed
    position = start + 8
    return true
  }

  private mutating func readControl(_ block: GIFExtension) {
    if block.firstBlockSize != 4 || block.blockCount != 1 {
      note(
        .gifControlSize, "graphic control of \(block.firstBlockSize) bytes",
        frame: image.frames.count, at: block.offset)
    }
    guard block.firstBlock.count >= 4 else { return }
    if control != nil {
      note(
        .gifControlUnused, "two graphic controls before one image", frame: image.frames.count,
        at: block.offset)
    }
    let parsed = GIFGraphicControl(parsing: block.firstBlock)
    if parsed.hasReservedDisposal {
      note(
        .gifReservedDisposal, "disposal method \(block.firstBlock[0] >> 2 & 7)",
        frame: image.frames.count, at: block.offset)
    }
    control = parsed
  }

  /// Reports a graphic control that no image follows.
  mutating func endControl() {
    guard control != nil else { return }
    note(.gifControlUnused, "graphic control without an image", at: blockOffset)
  }

  private mutating func keepComment(_ block: GIFExtension) {
    guard admits(block) else { return }
    image.metadata.texts.append(
      .init(key: "Comment", value: String(decoding: block.payload, as: UTF8.self)))
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
      note(.gifLoopBlock, "a loop block without a loop count", at: block.offset)
      return
    }
    if block.payloadSize != 3 {
      note(.gifLoopBlock, "a loop block of \(block.payloadSize) bytes", at: block.offset)
    }
    if image.storedLoopCount != nil {
      note(.gifLoopTwice, "another loop count, \(count)", at: block.offset)
    }
    image.storedLoopCount = count
  }

  private mutating func admits(_ block: GIFExtension) -> Bool {
    let isAdmitted = !block.isCut && metadataBudget.admits(byteCount: block.payloadSize)
    if !isAdmitted, metadataBudget.leaveOut() {
      note(.metadataLimit, "metadata past the limits is not kept", at: block.offset)
    }
    return isAdmitted
  }
}

extension RawSpan {
  /// Whether a complete graphic control (GIF89a section 23) of one four-byte sub-block, as nearly
  /// all are, lies at `offset`.
  func hasPlainControl(at offset: Int) -> Bool {
    offset <= byteCount - 8 && self[offset] == 0x21
      && self[offset + 1] == GIFExtension.graphicControl && self[offset + 2] == 4
      && self[offset + 7] == 0
  }
}

/// The graphic control extension (GIF89a section 23), which describes the next image.
///
///     size  field
///        1  flags: bits 2...4 disposal method, bit 0 transparency
///        2  delay in hundredths of a second
///        1  transparent index
struct GIFGraphicControl: Sendable {
  var disposal = DisposalMethod.keep
  var delay = FrameDelay(centiseconds: 0)
  var transparentIndex: UInt8?
  /// Whether the disposal is one of the four reserved values.
  var hasReservedDisposal = false

  init() {}

  /// Reads the first four bytes of the block.
  init(parsing bytes: [UInt8]) {
    self.init(flags: bytes[0], delay: bytes.littleEndian16(at: 1), index: bytes[3])
  }

  init(flags: UInt8, delay: UInt16, index: UInt8) {
    let method = flags >> 2 & 7
    // Browsers read 4 as "previous" because an early editor wrote it so; 5 to 7 mean nothing.
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

/// An extension block being read, with the sub-blocks that may be needed.
struct GIFExtension: Sendable {
  let label: UInt8
  /// The file offset of its introducer.
  let offset: Int
  /// Sub-blocks begun so far.
  private(set) var blockCount = 0
  private(set) var firstBlockSize = 0
  private var secondBlockSize = 0
  /// The first sub-block: identifier and authentication code of an application extension.
  private(set) var firstBlock: [UInt8] = []
  /// The later sub-blocks joined (for a comment, all of them), up to the limit.
  private(set) var payload: [UInt8] = []
  /// Like ``payload`` but including the length bytes, as an XMP packet is stored.
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
  static let plainText: UInt8 = 0x01

  /// Whether this is an XMP packet; known once the first sub-block is complete.
  private(set) var isXMP = false
  /// Whether the payload exceeded the limit and was truncated.
  var isCut: Bool { payloadSize > payload.count }

  /// The identifier of an application extension, with unprintable bytes replaced.
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

  /// Takes the next bytes of the current sub-block.
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

  /// The XMP packet without its 257-byte "magic trailer", which lets plain readers skip it.
  var xmpPacket: String {
    let trailer = 257
    var packet = rawPayload[...]
    if packet.count >= trailer, packet[packet.count - trailer] == 1 {
      packet = packet.dropLast(trailer)
    }
    return String(decoding: packet, as: UTF8.self)
  }

  /// The loop count of a `NETSCAPE2.0` or `ANIMEXTS1.0` block; nil without a sub-block of three
  /// bytes or more that begins with 1.
  var loopCount: UInt32? {
    guard isLoopBlock, secondBlockSize >= 3, payload.count >= 3, payload[0] == 1 else { return nil }
    return UInt32(payload.littleEndian16(at: 1))
  }

  var isLoopBlock: Bool {
    label == Self.application
      && (firstBlock == Array("NETSCAPE2.0".utf8) || firstBlock == Array("ANIMEXTS1.0".utf8))
  }
}
