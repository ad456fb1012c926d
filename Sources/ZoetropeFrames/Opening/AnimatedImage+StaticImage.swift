extension AnimatedImage: AnimationSource {
  /// Describes how the frames are read. All frames are available at any time.
  public var origin: FrameOrigin { FrameOrigin(self) }

  /// Returns the image that readers without animation support show: the static image of an APNG if that image is not a
  /// frame, otherwise frame 0.
  ///
  /// - Throws: The errors of ``AnimationSource/bitmap(at:rendering:cache:)``.
  public func staticBitmap() async throws(AnimatedImageError) -> Bitmap {
    try await DecodeThreads.shared.value { [self] _ throws(AnimatedImageError) in
      try renderStaticBitmap()
    }
  }

  /// Returns the same image as ``staticBitmap()``, decoded on the calling thread.
  package func renderStaticBitmap() throws(AnimatedImageError) -> Bitmap {
    guard let staticImage else { return try FrameReader(self).frame(at: 0).bitmap }
    let pixels = FramePixels()
    var decoder = FrameDecoder(header: header, options: options)
    try decoder.decode(staticImage, from: source, into: pixels)
    try pixels.refuse(under: options.damage, format: format)
    var compositor = try Compositor(size: canvasSize, format: options.canvasFormat)
    _ = try compositor.draw(pixels, staticImage)
    return compositor.canvas.bitmap
  }
}
