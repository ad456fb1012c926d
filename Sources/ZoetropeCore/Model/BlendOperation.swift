/// How a frame is put on the canvas.
public enum BlendOperation: UInt8, Sendable, Hashable {
  /// Every pixel of the frame, alpha included, replaces the canvas (APNG `SOURCE`).
  case source
  /// The frame is laid over the canvas (APNG `OVER`; GIF, whose transparent index leaves it).
  case over
}
