/// The whole canvas as it looks while one frame is shown.
public struct CompositedFrame: Sendable {
  /// The index of the frame, from 0.
  public let index: Int
  /// The canvas after the frame was drawn.
  public let bitmap: Bitmap
  /// A rectangle, clipped to the canvas, that contains every difference between this bitmap and the bitmap of the
  /// previous frame. For the first frame, it is the whole canvas.
  public let dirtyRect: PixelRect
  /// The damage found in the frame, or nil if there is none.
  public let damage: Damage?

  /// Creates a frame, for example to test code that consumes frames.
  ///
  /// By default, the dirty rectangle is the whole bitmap, and there is no damage.
  public init(index: Int, bitmap: Bitmap, dirtyRect: PixelRect? = nil, damage: Damage? = nil) {
    self.index = index
    self.bitmap = bitmap
    self.dirtyRect = dirtyRect ?? PixelRect(bitmap.size)
    self.damage = damage
  }
}
