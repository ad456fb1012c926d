extension FramePixels {
  /// Takes over the size and the colours of a GIF frame, with no pixel decoded yet.
  ///
  /// `localPalette` holds three bytes a colour. Entries past the palette are opaque black, as in
  /// browsers; the transparent one is 0, also where it lies past the palette.
  package func prepare(_ control: FrameControl, header: ImageHeader, localPalette: RawSpan) {
    layout = .indexed8
    width = max(control.rect.width, 0)
    height = max(control.rect.height, 0)
    isInterlaced = control.isInterlaced
    transparentIndex = control.transparentIndex
    isOpaque = false
    hasBinaryAlpha = true
    validPixels = 0
    damage = nil
    if control.localPaletteCount > 0 {
      setPalette(localPalette)
    } else {
      setPalette(header.palette.span, rest: RGBA.black.word)
    }
    if let transparentIndex { palette[Int(transparentIndex)] = RGBA.clear.word }
  }

  /// Sets the palette to colours of three bytes each; entries past them are opaque black.
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
