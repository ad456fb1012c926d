/// The whole canvas as it is shown during one frame.
public struct CompositedFrame: Sendable {
  /// The frame's place in the animation, from 0.
  public let index: Int
  /// The canvas after the frame was drawn.
  public let bitmap: Bitmap
  /// Where this picture may differ from the one of the frame before, clipped to the canvas;
  /// the whole canvas for the first frame.
  public let dirtyRect: PixelRect
  /// What was wrong with the frame, if anything.
  public let damage: Damage?

  /// Creates a frame, such as for tests of code that takes frames.
  ///
  /// By default all of the bitmap is dirty and there is no damage.
  public init(index: Int, bitmap: Bitmap, dirtyRect: PixelRect? = nil, damage: Damage? = nil) {
    self.index = index
    self.bitmap = bitmap
    self.dirtyRect = dirtyRect ?? PixelRect(bitmap.size)
    self.damage = damage
  }
}
