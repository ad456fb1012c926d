extension FramePixels {
  /// Sets everything but the samples for a GIF frame; no pixel is valid yet.
  ///
  /// - Parameter bytes: The frame's bytes from its image separator.
  func prepareIndexed(_ record: FrameRecord, header: ImageHeader, bytes: borrowing RawSpan) {
    let rect = record.control.rect
    layout = .indexed8
    width = rect.width
    height = rect.height
    bytesPerRow = rect.width
    offset = 0
    isInterlaced = record.control.isInterlaced
    transparentIndex = record.transparentIndex
    isOpaque = record.transparentIndex == nil
    validPixels = 0
    damage = nil
    let opaqueBlack = RGBA.black.word
    let localStart = 10
    for index in 0..<256 {
      let color = localStart + index * 3
      palette[index] =
        if record.localPaletteCount == 0 {
          index < header.palette.count ? header.palette[index] : opaqueBlack
        } else if index < record.localPaletteCount, color + 2 < bytes.byteCount {
          RGBA(red: bytes[color], green: bytes[color + 1], blue: bytes[color + 2]).word
        } else {
          opaqueBlack
        }
    }
  }
}
