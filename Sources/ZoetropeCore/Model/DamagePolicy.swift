/// What to do with files that break their format's rules.
public enum DamagePolicy: String, Sendable, Hashable {
  /// Keep every good frame and every row of a damaged one that is not cut off; report the rest.
  case salvage
  /// Throw at the first deviation that costs pixels, frames or the animation, or after which the pixels
  /// may be wrong (``Damage/Kind/isRefusedByStrict``). What costs nothing, as a missing trailer, is
  /// reported as in ``salvage``.
  case strict
  /// As ``salvage``, and also keep the decoded rows of the frame in which the data ends.
  case partialRows
}
