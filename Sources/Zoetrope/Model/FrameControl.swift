/// What is known of one frame without decoding its pixels.
public struct FrameControl: Sendable, Hashable {
  /// Its place in the animation, from 0.
  public let index: Int
  /// Where it lies on the canvas, as stored; it may reach past the canvas (GIF only) or be empty.
  public let rect: PixelRect
  /// How long the file asks for it to be shown.
  public let delay: FrameDelay
  /// What happens to ``rect`` before the next frame.
  public let disposal: DisposalMethod
  /// How it is put on the canvas.
  public let blend: BlendOperation
  /// Whether decoding can start here: neither this frame's composited picture nor a later one's needs
  /// an earlier frame.
  public let isIndependent: Bool
  /// Whether its rows are stored in interlaced order.
  public let isInterlaced: Bool
  /// Where its colours come from.
  public let palette: PaletteUse
  /// The bytes of the file from which its pixels are decoded.
  public let byteRange: Range<Int>

  package init(
    index: Int, rect: PixelRect, delay: FrameDelay, disposal: DisposalMethod,
    blend: BlendOperation, isIndependent: Bool, isInterlaced: Bool, palette: PaletteUse,
    byteRange: Range<Int>
  ) {
    self.index = index
    self.rect = rect
    self.delay = delay
    self.disposal = disposal
    self.blend = blend
    self.isIndependent = isIndependent
    self.isInterlaced = isInterlaced
    self.palette = palette
    self.byteRange = byteRange
  }
}
