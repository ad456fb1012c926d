/// The contents and counters of a cache.
public struct CacheStatistics: Sendable, Hashable {
  /// Lookups that found a bitmap.
  public internal(set) var hits = 0
  /// Lookups that found none.
  public internal(set) var misses = 0
  /// Bitmaps stored, including replacements.
  public internal(set) var insertions = 0
  /// Bitmaps evicted to stay within a limit.
  public internal(set) var evictions = 0
  /// Bitmaps not stored because each alone exceeds a limit.
  package internal(set) var rejections = 0
  /// Bitmaps held now.
  public internal(set) var count = 0
  /// Bytes of the bitmaps' pixels, including padding.
  public internal(set) var byteCount = 0
  /// The part of ``byteCount`` that belongs to the two-frame floors of held animations.
  package internal(set) var heldByteCount = 0

  /// Creates statistics with all counters zero.
  package init() {}

  /// Hits divided by lookups, 0 to 1; 0 before the first lookup.
  public var hitRate: Double {
    hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses)
  }
}
