/// A pixel layout whose rows the fast decoder unfilters itself.
struct PNGSampleFormat {
  let layout: FramePixels.Layout
  /// Bytes in a pixel.
  let pixelSize: Int

  /// The layout of a file's frames; nil when libpng has to decode them.
  init?(_ header: ImageHeader) {
    guard !header.isInterlaced, !header.hasTransparentColor else { return nil }
    switch (header.colorType, header.bitDepth) {
    case (0, 8): self.init(.grey8, 1)
    case (0, 16): self.init(.grey16, 2)
    case (2, 8): self.init(.rgb8, 3)
    case (2, 16): self.init(.rgb16, 6)
    case (3, 8): self.init(.indexed8, 1)
    case (4, 8): self.init(.greyAlpha8, 2)
    case (4, 16): self.init(.greyAlpha16, 4)
    case (6, 8): self.init(.rgba8, 4)
    case (6, 16): self.init(.rgba16, 8)
    default: return nil
    }
  }

  private init(_ layout: FramePixels.Layout, _ pixelSize: Int) {
    self.layout = layout
    self.pixelSize = pixelSize
  }
}
