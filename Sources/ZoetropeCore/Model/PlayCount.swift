/// How many times an animation plays in total.
///
/// GIF: no loop block is one play, 0 is ``indefinite``, *n* is *n* + 1 plays.
/// APNG: `num_plays` 0 is ``indefinite``, *n* is *n* plays.
public enum PlayCount: Sendable, Hashable {
  /// The total number of plays; at least one.
  case finite(Int)
  /// Until it is stopped.
  case indefinite

  /// One play.
  public static let once = PlayCount.finite(1)
}
