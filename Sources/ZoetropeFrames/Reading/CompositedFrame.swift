/// The whole canvas as shown during one frame.
public struct CompositedFrame: Sendable {
  /// The frame index, from 0.
  public let index: Int
  /// The canvas after the frame was drawn.
  public let bitmap: Bitmap
  /// The area in which the bitmap may differ from that of the previous frame, clipped to the canvas; the whole canvas
  /// for the first frame.
  public let dirtyRect: PixelRect
  /// The damage found in the frame, if any.
  public let damage: Damage?

  /// Creates a frame, for example to test code that consumes frames.
  ///
  /// By default the whole bitmap is dirty and there is no damage.
  public init(index: Int, bitmap: Bitmap, dirtyRect: PixelRect? = nil, damage: Damage? = nil) {
    self.index = index
    self.bitmap = bitmap
    self.dirtyRect = dirtyRect ?? PixelRect(bitmap.size)
    self.damage = damage
  }
}
