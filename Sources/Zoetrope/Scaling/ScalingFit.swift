/// How a picture is laid into a box of another shape.
public enum ScalingFit: String, Sendable, Hashable, CaseIterable {
  /// As large as the box allows, nothing cut off, shape kept.
  case fit
  /// As small as covers the box, shape kept, what sticks out cut off evenly on both sides.
  case fill
  /// Exactly the box, shape given up.
  case stretch
  /// As ``fit``, by a whole factor, or the inverse of one: each source pixel becomes a block of
  /// equal size, which keeps pixel art even. A box narrower or lower than the picture is met by
  /// a half, a third and so on.
  case integer
}
