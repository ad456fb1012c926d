/// Reads frames as stored: each frame's own rectangle, not composited.
///
/// Pixels that a GIF frame leaves unchanged are transparent; an APNG frame has exactly its stored pixels.
/// Not `Sendable`. Decodes on the calling thread.
public final class StoredFrameReader {
  package let image: AnimatedImage
  private var decoder: FrameDecoder
  private let pixels = FramePixels()

  /// Creates a reader of `image`. Decodes nothing yet.
  public init(_ image: AnimatedImage) {
    self.image = image
    decoder = FrameDecoder(header: image.header, options: image.options)
  }

  /// Returns the stored pixels of frame `index`, in a bitmap of the size of the frame's rectangle.
  ///
  /// Costs one decode, whatever was read before. Returns nil for a frame without pixels.
  ///
  /// - Throws: `parameter` if the frame does not exist; with ``DamagePolicy/strict``, for a damaged frame; `io`
  ///   if the file cannot be read.
  public func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame? {
    guard image.frames.indices.contains(index) else {
      throw AnimatedImageError(
        .parameter, "frame \(index) does not exist; there are \(image.frames.count) frames",
        format: image.format)
    }
    return try read(image.frames[index])
  }

  /// Returns the static image of an APNG if it is not a frame; else nil.
  ///
  /// - Throws: The errors of ``frame(at:)``.
  public func staticImage() throws(AnimatedImageError) -> CompositedFrame? {
    guard let control = image.staticImage else { return nil }
    return try read(control)
  }

  /// Reads frame `control`, which may have arrived after ``image``.
  package func read(_ control: FrameControl) throws(AnimatedImageError) -> CompositedFrame? {
    guard !control.rect.isEmpty else { return nil }
    try decoder.decode(control, from: image.source, into: pixels)
    try pixels.refuse(under: image.options.damage, format: image.format)
    let size = control.rect.size
    // Draw on a canvas of the frame's own size, so that drawing has only one implementation.
    var compositor = try Compositor(size: size, format: image.options.canvasFormat)
    let dirty = try compositor.draw(
      pixels, control.movedToOrigin(blend: image.header.codec.storedBlend))
    return CompositedFrame(
      index: control.index, bitmap: compositor.canvas.bitmap, dirtyRect: dirty,
      damage: pixels.damage)
  }
}

extension FrameControl {
  /// This frame moved to the origin, for a canvas of its own size.
  fileprivate func movedToOrigin(blend: BlendOperation) -> FrameControl {
    FrameControl(
      index: index, rect: PixelRect(rect.size), delay: delay, disposal: .keep,
      blend: blend, isIndependent: true, isInterlaced: isInterlaced,
      palette: palette, byteRange: byteRange)
  }
}
