/// Reads frames as they are stored: the frame's own rectangle, not put on the canvas.
///
/// What a GIF leaves unchanged is transparent; an APNG frame has exactly its stored pixels. One
/// owner at a time; not `Sendable`. Work is done on the calling thread.
public final class StoredFrameReader {
  /// The image that is read.
  public let image: AnimatedImage
  private var decoder: FrameDecoder
  private let pixels = FramePixels()

  /// A reader of `image`. Nothing is decoded yet.
  public init(_ image: AnimatedImage) {
    self.image = image
    decoder = FrameDecoder(header: image.header, options: image.options)
  }

  /// The stored pixels of frame `index`; the bitmap has the size of its rectangle.
  ///
  /// Costs one decode, whatever was read before. Nil for a frame without pixels.
  ///
  /// - Throws: `parameter` when there is no such frame; with ``DamagePolicy/strict`` for a damaged
  ///   frame; `io` when the file cannot be read.
  public func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame? {
    guard image.frames.indices.contains(index) else {
      throw AnimatedImageError(
        .parameter, "no frame \(index), there are \(image.frames.count)", format: image.format)
    }
    return try read(image.frames[index])
  }

  /// The static image of an APNG in which it is not a frame; nil when there is none.
  ///
  /// - Throws: As ``frame(at:)``.
  public func staticImage() throws(AnimatedImageError) -> CompositedFrame? {
    guard let control = image.staticImage else { return nil }
    return try read(control)
  }

  private func read(_ control: FrameControl) throws(AnimatedImageError) -> CompositedFrame? {
    guard !control.rect.isEmpty else { return nil }
    try decoder.decode(control, from: image.source, into: pixels)
    try pixels.refuse(under: image.options.damage, format: image.format)
    let size = control.rect.size
    // A compositor of the frame's own size: the one place that knows how pixels are drawn.
    var compositor = try Compositor(size: size, format: image.options.canvasFormat)
    let dirty = try compositor.draw(pixels, control.movedToOrigin(format: image.format))
    return CompositedFrame(
      index: control.index, bitmap: compositor.canvas.bitmap, dirtyRect: dirty,
      damage: pixels.damage)
  }
}

extension FrameControl {
  /// The frame alone on a canvas of its own size.
  fileprivate func movedToOrigin(format: AnimationFormat) -> FrameControl {
    FrameControl(
      index: index, rect: PixelRect(rect.size), delay: delay, disposal: .keep,
      blend: format == .gif ? .over : .source, isIndependent: true, isInterlaced: isInterlaced,
      palette: palette, byteRange: byteRange)
  }
}
