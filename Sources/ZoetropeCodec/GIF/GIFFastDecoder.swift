/// Decodes GIF frames with this package's own LZW decoder.
///
/// The pixels are those that browsers show. A damaged frame keeps the pixels decoded before the damage.
package struct GIFFastDecoder: FrameDecoding {
  /// The combined byte count of the image separator and the image descriptor.
  static let descriptorCount = 10

  private var expander = LZWDecoder()

  package init() {}

  package mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan,
    into pixels: FramePixels
  ) throws(AnimatedImageError) {
    let dataStart = Self.descriptorCount + 3 * control.localPaletteCount + 1
    let paletteEnd = min(dataStart - 1, bytes.byteCount)
    let palette = bytes.extracting(min(Self.descriptorCount, paletteEnd)..<paletteEnd)
    pixels.prepare(control, header: header, localPalette: palette)
    var content = pixels.content
    content.offset = LZWDecoder.headroom
    content.bytesPerRow = content.width
    let count = content.width * content.height
    guard count > 0 else {
      return pixels.note(.gifEmptyFrame, "the frame \(control.rect) has no pixels", control, at: 0)
    }
    guard bytes.byteCount >= dataStart else {
      return pixels.note(
        .lzwNoData, "the data ends before the minimum code size", control, at: bytes.byteCount)
    }
    let codeSize = Int(bytes[dataStart - 1])
    guard LZWDecoder.minimumCodeSizes.contains(codeSize) else {
      return pixels.note(
        .lzwBadMinimumCodeSize, "the minimum code size is \(codeSize), which is invalid", control,
        at: dataStart - 1)
    }
    try pixels.reserve(byteCount: LZWDecoder.headroom + count + LZWDecoder.slack)
    let data = bytes.extracting(droppingFirst: dataStart)
    let (result, blocks) = try expander.expand(
      data, minimumCodeSize: codeSize, into: pixels.storage, count: count)
    content.validPixels = result.pixelCount
    content.isOpaque = result.pixelCount == count && content.transparentIndex == nil
    pixels.content = content
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
      ? blocks.sourceCount : LZWDecoder.sourceOffset(ofPayload: result.byteOffset, in: data)
    pixels.note(kind, detail, control, at: dataStart + offset)
  }

  /// Returns the kind and description of the defect in the frame's data, or nil if there is none.
  private static func damage(
    _ result: LZWResult, _ blocks: LZWDecoder.Blocks, count: Int
  ) -> (Damage.Kind, String)? {
    let pixels = "\(result.pixelCount) of \(count) pixels"
    switch result.status {
    case .complete where !blocks.isTerminated:
      return (.gifMissingTerminator, "the data ends without a block terminator")
    case .complete:
      guard result.trailer == .surplus else { return nil }
      return (.lzwSurplus, "there is data after the last pixel")
    case .endCodeEarly:
      return (.lzwEndCodeEarly, "the end code comes after \(pixels)")
    case .invalidCode:
      return (.lzwInvalidCode, "there is an undefined code after \(pixels)")
    case .dataExhausted:
      if blocks.payloadCount == 0 { return (.lzwNoData, "there is no compressed data") }
      return (.lzwTruncated, "the compressed data ends after \(pixels)")
    }
  }
}

extension FramePixels {
  /// Sets ``damage``. `offset` is the position of the damage relative to the start of the frame's bytes.
  fileprivate func note(
    _ kind: Damage.Kind, _ detail: String, _ control: FrameControl, at offset: Int
  ) {
    let content = content
    damage = Damage(
      kind, detail, frameIndex: control.index,
      byteOffset: control.byteRange.lowerBound + offset,
      validRows: content.isComplete ? nil : content.validPixels / content.width)
  }
}

extension FramePixels {
  /// Sets the size and the palette of a GIF frame. This is called before any pixel is decoded.
  ///
  /// `localPalette` has three bytes per colour. The remaining entries of the 256-entry palette become opaque black, as
  /// in browsers. The entry at the transparent index becomes 0, even if the file's palette is shorter.
  package func prepare(_ control: FrameControl, header: ImageHeader, localPalette: RawSpan) {
    content = Content(
      layout: .indexed8, width: max(control.rect.width, 0), height: max(control.rect.height, 0),
      isInterlaced: control.isInterlaced, transparentIndex: control.transparentIndex,
      hasBinaryAlpha: true)
    damage = nil
    if control.localPaletteCount > 0 {
      setPalette(localPalette)
    } else {
      setPalette(header.palette.span, rest: RGBA.black.word)
    }
    if let index = control.transparentIndex { palette[Int(index)] = RGBA.clear.word }
  }

  /// Sets the palette to the colours in `bytes`, which has three bytes per colour. The remaining entries become opaque
  /// black.
  private func setPalette(_ bytes: RawSpan) {
    let bytes = Span<UInt8>(_bytes: bytes)
    var entries = takePalette()
    let count = min(bytes.count / 3, entries.count)
    for i in 0..<count {
      let (red, green, blue) = (bytes[3 * i], bytes[3 * i + 1], bytes[3 * i + 2])
      entries[i] = RGBA(red: red, green: green, blue: blue).word
    }
    for i in count..<entries.count { entries[i] = RGBA.black.word }
    palette = entries
  }
}
