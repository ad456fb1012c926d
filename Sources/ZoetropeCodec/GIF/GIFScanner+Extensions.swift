extension GIFScanner {
  /// The terminator of an extension was read.
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

  /// Reads a graphic control where it lies, when it lies there whole and there is nothing to note.
  ///
  /// Nearly every frame has one and most have no other extension; gathered as an extension it takes
  /// longer than the rest of the frame's structure.
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

  /// Says so when a graphic control is left without an image.
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
  /// Whether a graphic control (GIF89a section 23) lies whole at `offset`, as nearly all do: one
  /// sub-block of four bytes.
  func hasPlainControl(at offset: Int) -> Bool {
    offset <= byteCount - 8 && self[offset] == 0x21
      && self[offset + 1] == GIFExtension.graphicControl && self[offset + 2] == 4
      && self[offset + 7] == 0
  }
}
