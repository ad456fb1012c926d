/// The contents and counters of a cache.
public struct CacheStatistics: Sendable, Hashable {
  /// The number of lookups that found a bitmap.
  public internal(set) var hits = 0
  /// The number of lookups that found no bitmap. This includes lookups of frames that a ``FrameStore`` behind the cache
  /// then supplies, and every one of several concurrent requests for a frame.
  public internal(set) var misses = 0
  /// The number of bitmaps stored, including replacements.
  public internal(set) var insertions = 0
  /// The number of bitmaps evicted to stay within a limit.
  public internal(set) var evictions = 0
  /// The number of bitmaps that were not stored because each exceeded a limit on its own.
  package internal(set) var rejections = 0
  /// The number of bitmaps that the cache holds now.
  public internal(set) var count = 0
  /// The number of bytes of the bitmaps' pixels, including padding.
  public internal(set) var byteCount = 0
  /// The part of ``byteCount`` that belongs to the two frames of each held animation that are never evicted.
  package internal(set) var heldByteCount = 0

  /// Creates statistics with all counters zero.
  package init() {}

  /// The number of hits divided by the number of lookups, from 0 to 1. It is 0 before the first lookup.
  public var hitRate: Double {
    hits + misses == 0 ? 0 : Double(hits) / Double(hits + misses)
  }
}
