/// What happens to a frame's rectangle before the next frame is drawn.
public enum DisposalMethod: UInt8, Sendable, Hashable {
  /// The picture stays (GIF89a 23.c values 0, 1 and 5 to 7; APNG `NONE`).
  case keep
  /// The rectangle becomes transparent (GIF 2, as browsers read it; APNG `BACKGROUND`).
  case background
  /// The rectangle becomes what it was before the frame (GIF 3 and 4; APNG `PREVIOUS`).
  case previous
}
