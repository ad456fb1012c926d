/// The total number of times that an animation plays.
///
/// A GIF without a loop block plays once. In other GIFs, a loop count of 0 means ``indefinite``, and a count of *n*
/// means *n* + 1 plays. In an APNG, a `num_plays` of 0 means ``indefinite``, and a `num_plays` of *n* means *n* plays.
public enum PlayCount: Sendable, Hashable {
  /// A total number of plays, at least one.
  case finite(Int)
  /// The animation plays until it is stopped.
  case indefinite

  /// One play.
  public static let once = PlayCount.finite(1)
}
