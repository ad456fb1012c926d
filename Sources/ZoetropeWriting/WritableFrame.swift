/// A frame to be written: a picture of the whole canvas, and its delay.
public struct WritableFrame: Sendable {
  /// The picture, which has the size of the canvas.
  public var bitmap: Bitmap
  /// How long the frame is shown.
  public var delay: FrameDelay
  /// The part of the bitmap that may differ from the previous frame, or nil if the whole bitmap may differ.
  ///
  /// Only this part is compared with the previous frame. Pixels outside it must equal those of the previous frame,
  /// which debug builds check.
  public var changed: PixelRect?

  /// Creates a frame. If `changed` is nil, the whole bitmap may differ from the previous frame.
  public init(bitmap: Bitmap, delay: FrameDelay, changed: PixelRect? = nil) {
    self.bitmap = bitmap
    self.delay = delay
    self.changed = changed
  }

  /// Creates a frame from a composited frame. The whole picture is compared with that of the previous frame written,
  /// which may be any frame.
  public init(_ frame: CompositedFrame, delay: FrameDelay) {
    self.init(bitmap: frame.bitmap, delay: delay)
  }

  /// Creates a frame from a composited frame, of which only ``CompositedFrame/dirtyRect`` is compared with the previous
  /// frame. This is faster than ``init(_:delay:)``.
  ///
  /// - Precondition: The previous frame written is the one that precedes `frame` in its animation. Otherwise, the file
  ///   shows wrong pictures. Debug builds check this.
  public init(consecutive frame: CompositedFrame, delay: FrameDelay) {
    self.init(bitmap: frame.bitmap, delay: delay, changed: frame.dirtyRect)
  }
}
