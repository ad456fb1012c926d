/// What a cache holds and has done.
public struct CacheStatistics: Sendable, Hashable {
  /// Lookups that found a bitmap.
  public internal(set) var hits = 0
  /// Lookups that did not.
  public internal(set) var misses = 0
  /// Bitmaps stored, replacements included.
  public internal(set) var insertions = 0
  /// Bitmaps dropped to hold a limit.
  public internal(set) var evictions = 0
  /// Bitmaps that were not kept because they alone pass a limit.
  public internal(set) var rejections = 0
  /// Bitmaps held now.
  public internal(set) var count = 0
  /// Bytes of their pixels, padding included.
  public internal(set) var cost = 0
  /// The part of ``cost`` that belongs to the two-frame floors of held animations.
  public internal(set) var heldCost = 0

  /// Statistics of a cache that did nothing yet.
  public init() {}

  /// The share of lookups that were hits, 0 to 1; 0 before the first.
  public var hitRate: Double {
    hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses)
  }
}
