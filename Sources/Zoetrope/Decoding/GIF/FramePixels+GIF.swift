extension FramePixels {
  /// Takes over the size and the colours of a GIF frame, with no pixel decoded yet.
  ///
  /// `localPalette` holds three bytes a colour. Entries past the palette are opaque black, as in
  /// browsers; the transparent one is 0, also where it lies past the palette.
  package func prepare(_ record: FrameRecord, header: ImageHeader, localPalette: RawSpan) {
    layout = .indexed8
    width = max(record.control.rect.width, 0)
    height = max(record.control.rect.height, 0)
    isInterlaced = record.control.isInterlaced
    transparentIndex = record.transparentIndex
    isOpaque = false
    hasBinaryAlpha = true
    validPixels = 0
    damage = nil
    let count =
      record.localPaletteCount > 0
      ? Self.fill(&palette, with: localPalette) : Self.fill(&palette, with: header.palette)
    for i in count..<256 { palette[i] = RGBA.black.word }
    if let transparentIndex { palette[Int(transparentIndex)] = RGBA.clear.word }
  }

  /// Writes colours of three bytes each; how many.
  private static func fill(_ palette: inout [UInt32], with bytes: RawSpan) -> Int {
    let count = min(bytes.byteCount / 3, palette.count)
    let bytes = Span<UInt8>(_bytes: bytes)
    for i in 0..<count {
      let (red, green, blue) = (bytes[3 * i], bytes[3 * i + 1], bytes[3 * i + 2])
      palette[i] = RGBA(red: red, green: green, blue: blue).word
    }
    return count
  }

  private static func fill(_ palette: inout [UInt32], with colors: [UInt32]) -> Int {
    let count = min(colors.count, palette.count)
    for i in 0..<count { palette[i] = colors[i] }
    return count
  }
}
