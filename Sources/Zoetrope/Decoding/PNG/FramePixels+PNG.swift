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

  /// Takes PLTE's colours; entries past them are opaque black, as the specification has it.
  func setPNGPalette(_ colors: [UInt32]) {
    for index in palette.indices {
      palette[index] = index < colors.count ? colors[index] : 0xff00_0000
    }
  }
}
