/// A frame to be written: the whole canvas and its delay.
public struct WritableFrame: Sendable {
  /// The canvas.
  public var bitmap: Bitmap
  /// How long the frame is shown.
  public var delay: FrameDelay
  /// The part of the bitmap that may differ from the previous frame; nil if all of it may.
  ///
  /// Only this part is compared. Pixels outside must be equal, which debug builds check.
  public var changed: PixelRect?

  /// Creates a frame. Without `changed`, all of it may differ from the previous frame.
  public init(bitmap: Bitmap, delay: FrameDelay, changed: PixelRect? = nil) {
    self.bitmap = bitmap
    self.delay = delay
    self.changed = changed
  }

  /// Creates a frame from a composited one. The frame before it in the source must be the previous frame written.
  public init(_ frame: CompositedFrame, delay: FrameDelay) {
    self.init(bitmap: frame.bitmap, delay: delay, changed: frame.dirtyRect)
  }
}
