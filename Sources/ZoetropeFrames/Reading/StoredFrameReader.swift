/// A reader of frames as they are stored: each frame's own rectangle, not composited.
///
/// Pixels that a GIF frame leaves unchanged are transparent. An APNG frame has exactly its stored pixels. A reader is
/// not `Sendable`, and decodes on the calling thread.
public final class StoredFrameReader {
  package let image: AnimatedImage
  private var decoder: FrameDecoder
  private let pixels = FramePixels()

  /// Creates a reader of `image`. Nothing is decoded yet.
  public init(_ image: AnimatedImage) {
    self.image = image
    decoder = FrameDecoder(header: image.header, options: image.options)
  }

  /// Returns the stored pixels of frame `index`, in a bitmap of the size of the frame's rectangle. Returns nil if the
  /// frame has no pixels.
  ///
  /// Each call costs one decode, whatever was read before.
  ///
  /// - Throws: `parameter` if the frame does not exist; with ``DamagePolicy/strict``, an error for a damaged frame;
  ///   `io` if the file cannot be read.
  public func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame? {
    guard image.frames.indices.contains(index) else {
      throw .noFrame(index, of: image.frames.count, format: image.format)
    }
    return try read(image.frames[index])
  }

  /// Returns the static image of an APNG if that image is not a frame, otherwise nil. Its damage and errors have no
  /// frame index.
  ///
  /// - Throws: The errors of ``frame(at:)``.
  public func staticImage() throws(AnimatedImageError) -> CompositedFrame? {
    guard let control = image.staticImage else { return nil }
    return try read(control, isFrame: false)
  }

  /// Reads the frame that `control` describes. The frame may have arrived after ``image`` was created.
  ///
  /// - Parameter isFrame: Whether `control` describes a frame. If false, it describes the static image. Default: true.
  package func read(
    _ control: FrameControl, isFrame: Bool = true
  ) throws(AnimatedImageError) -> CompositedFrame? {
    guard !control.rect.isEmpty else { return nil }
    try decoder.decode(control, from: image.source, into: pixels)
    // The static image has the index 0 in case it becomes the only frame. Here, frame 0 is another picture.
    if !isFrame { pixels.damage = pixels.damage?.inFrame(nil) }
    try pixels.refuse(under: image.options.damage, format: image.format)
    let size = control.rect.size
    // The frame is drawn on a canvas of its own size, so that drawing has only one implementation.
    var compositor = try Compositor(size: size, format: image.options.canvasFormat)
    let dirty = try compositor.draw(
      pixels, control.movedToOrigin(blend: image.header.codec.storedBlend))
    return CompositedFrame(
      index: control.index, bitmap: compositor.canvas.bitmap, dirtyRect: dirty,
      damage: pixels.damage)
  }
}

extension FrameControl {
  /// Returns the description of this frame moved to the origin, for a canvas of the frame's own size.
  fileprivate func movedToOrigin(blend: BlendOperation) -> FrameControl {
    FrameControl(
      index: index, rect: PixelRect(rect.size), delay: delay, disposal: .keep,
      blend: blend, isIndependent: true, isInterlaced: isInterlaced,
      palette: palette, byteRange: byteRange)
  }
}
