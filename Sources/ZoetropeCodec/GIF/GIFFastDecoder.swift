/// Decodes GIF frames with the loops of this package.
///
/// Gives the pixels that browsers show. A damaged frame keeps the pixels in front of the damage.
package struct GIFFastDecoder: FrameDecoding {
  /// Bytes of an image separator and an image descriptor.
  static let descriptorCount = 10

  private var deblocker = GIFDeblocker()
  private var expander = LZWExpander()

  package init() {}

  package mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan,
    into pixels: FramePixels
  ) throws(AnimatedImageError) {
    let dataStart = Self.descriptorCount + 3 * control.localPaletteCount + 1
    let paletteEnd = min(dataStart - 1, bytes.byteCount)
    let palette = bytes.extracting(min(Self.descriptorCount, paletteEnd)..<paletteEnd)
    pixels.prepare(control, header: header, localPalette: palette)
    pixels.offset = LZWExpander.headroom
    pixels.bytesPerRow = pixels.width
    let count = pixels.width * pixels.height
    guard count > 0 else {
      return pixels.note(.gifEmptyFrame, "no pixels, \(control.rect)", control, at: 0)
    }
    guard bytes.byteCount >= dataStart else {
      return pixels.note(.lzwNoData, "no minimum code size", control, at: bytes.byteCount)
    }
    let codeSize = Int(unsafe bytes.unsafeLoad(fromByteOffset: dataStart - 1, as: UInt8.self))
    guard LZWExpander.minimumCodeSizes.contains(codeSize) else {
      return pixels.note(
        .lzwBadMinimumCodeSize, "minimum code size \(codeSize)", control, at: dataStart - 1)
    }
    try pixels.reserve(byteCount: LZWExpander.headroom + count + LZWExpander.slack)
    let data = bytes.extracting(droppingFirst: dataStart)
    try unsafe data.withUnsafeBytes { (source) throws(AnimatedImageError) in
      let (result, blocks) = try unsafe expand(
        source, codeSize: codeSize, count: count, into: pixels)
      pixels.validPixels = result.pixelCount
      pixels.isOpaque = result.pixelCount == count && pixels.transparentIndex == nil
      defer {
        let colors =
          control.localPaletteCount > 0 ? control.localPaletteCount : header.palette.count
        if colors > 0 {
          pixels.noteIndices(past: colors, below: 1 << codeSize, in: control)
        }
      }
      guard let (kind, detail) = Self.damage(result, blocks, count: count) else { return }
      let offset =
        kind == .gifMissingTerminator
        ? blocks.sourceCount
        : unsafe GIFDeblocker.sourceOffset(ofPayload: result.byteOffset, in: source)
      pixels.note(kind, detail, control, at: dataStart + offset)
    }
  }

  /// Joins and expands the sub-blocks of `source`.
  private mutating func expand(
    _ source: UnsafeRawBufferPointer, codeSize: Int, count: Int, into pixels: FramePixels
  ) throws(AnimatedImageError) -> (LZWResult, GIFDeblocker.Blocks) {
    // The storage has room for headroom, `count` pixels and slack: reserved just before.
    let address = unsafe pixels.storage.baseAddress + LZWExpander.headroom
    let output = unsafe address.assumingMemoryBound(to: UInt8.self)
    return try unsafe deblocker.join(source) { codes, blocks in
      let result = unsafe expander.expand(
        codes, minimumCodeSize: codeSize, into: output, count: count)
      return (result, blocks)
    }
  }

  /// What was wrong with the data, if anything.
  private static func damage(
    _ result: LZWResult, _ blocks: GIFDeblocker.Blocks, count: Int
  ) -> (Damage.Kind, String)? {
    let pixels = "\(result.pixelCount) of \(count) pixels"
    switch result.status {
    case .complete where !blocks.isTerminated:
      return (.gifMissingTerminator, "the data end without a block terminator")
    case .complete:
      guard result.trailer == .surplus else { return nil }
      return (.lzwSurplus, "data after the last pixel")
    case .endCodeEarly:
      return (.lzwEndCodeEarly, "end code after \(pixels)")
    case .invalidCode:
      return (.lzwInvalidCode, "a code that stands for nothing yet after \(pixels)")
    case .dataExhausted:
      if blocks.payloadCount == 0 { return (.lzwNoData, "no compressed data") }
      return (.lzwTruncated, "the compressed data end after \(pixels)")
    }
  }
}

extension FramePixels {
  /// Sets ``damage``; `offset` counts from the start of the frame's bytes.
  fileprivate func note(
    _ kind: Damage.Kind, _ detail: String, _ control: FrameControl, at offset: Int
  ) {
    let isComplete = validPixels == width * height
    damage = Damage(
      kind, detail, frameIndex: control.index,
      byteOffset: control.byteRange.lowerBound + offset,
      validRows: isComplete ? nil : validPixels / width)
  }
}
