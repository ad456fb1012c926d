/// How many times an animation plays in total.
///
/// GIF: no loop block means one play, 0 means ``indefinite``, and *n* means *n* + 1 plays. APNG:
/// `num_plays` 0 means ``indefinite``, and *n* means *n* plays.
public enum PlayCount: Sendable, Hashable {
  /// A total number of plays, at least one.
  case finite(Int)
  /// Plays until stopped.
  case indefinite

  /// One play.
  public static let once = PlayCount.finite(1)
}
