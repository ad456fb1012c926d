extension FramePixels {
  /// Sets what every PNG frame has in common; no pixel is valid yet.
  func resetForPNG(_ size: PixelSize) {
    width = size.width
    height = size.height
    layout = .rgba8
    bytesPerRow = 0
    offset = 0
    isInterlaced = false
    transparentIndex = nil
    isOpaque = false
    hasBinaryAlpha = false
    validPixels = 0
    damage = nil
    isSettled = false
  }

  /// Sets the colours that `layout` is read with.
  func setPNGColors(_ header: ImageHeader) {
    let key = header.hasTransparentColor ? header.transparency : []
    switch layout {
    case .indexed8 where header.colorType == 3: setPNGPalette(header.palette)
    case .indexed8:
      // Only the low bits count, as in libpng.
      let key = key.last.map { Int($0) & (1 << Int(header.bitDepth) - 1) }
      setGreyPalette(bitDepth: Int(header.bitDepth), transparent: key)
    case .keyedGrey16, .keyedRGB16: setKey(key)
    case .keyedRGB8: setKey([key[1], key[3], key[5]])
    default: break
    }
  }

  /// Takes PLTE's colours; entries past them are opaque black, as the specification has it.
  private func setPNGPalette(_ colors: [UInt32]) {
    setPalette(colors.span, rest: RGBA.black.word)
  }

  /// Makes the palette the greys of `bitDepth` bits, of which one may be transparent.
  private func setGreyPalette(bitDepth: Int, transparent: Int?) {
    let last = 1 << bitDepth - 1
    var entries = takePalette()
    for value in 0...last { entries[value] = UInt32(value * 255 / last) * 0x01_0101 | 0xff00_0000 }
    if let transparent { entries[transparent] &= 0xff_ffff }
    palette = entries
  }

  /// Puts the bytes of the transparent pixel into the first two entries of the palette.
  private func setKey(_ bytes: [UInt8]) {
    for entry in 0..<2 {
      palette[entry] = bytes.dropFirst(4 * entry).prefix(4).reversed().reduce(0) {
        $0 << 8 | UInt32($1)
      }
    }
  }
}
