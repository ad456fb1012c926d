internal import Synchronization

/// A rendered frame as a cache keeps it.
public struct CachedFrame: Sendable {
  /// The pixels.
  public let bitmap: Bitmap
  /// What was wrong with the frame that they were made of, if anything.
  public let damage: Damage?
  /// Bytes of the pixels, padding included.
  public var cost: Int { bitmap.cost }

  /// A frame to be cached; by default one without damage.
  public init(_ bitmap: Bitmap, damage: Damage? = nil) {
    self.bitmap = bitmap
    self.damage = damage
  }
}

/// A place for rendered frames; replace it by a type of your own where ``MemoryFrameCache`` does not
/// fit.
///
/// Calls come from any thread, must not block for long, and may forget: a frame that was stored need
/// not be found again. What is found must be what was stored under an equal key.
public protocol FrameCaching: Sendable {
  /// The frame stored under `key`, if it is still there.
  func frame(for key: FrameKey) -> CachedFrame?
  /// Keeps `frame` under `key`, in place of what was there.
  func store(_ frame: CachedFrame, for key: FrameKey)
  /// Forgets every frame of the image with these bytes, in every rendition.
  func remove(_ content: ContentIdentity)
  /// Forgets everything.
  func removeAll()
  /// Says that `animation` is being played, until the hold is ended or let go.
  ///
  /// A held animation keeps the two frames used last, whatever the limits, so that one player
  /// cannot starve another. By default nothing is done.
  func hold(_ animation: AnimationKey) -> FrameHold
  /// Whether looking up and storing may wait for a disk. Default: false.
  ///
  /// True keeps these calls on the library's own threads, away from the cooperative pool and from the
  /// thread that delivers frames on time.
  var mayBlock: Bool { get }
  /// The identity of the image's bytes that this cache's keys are made with. Default: the one of this
  /// process, ``AnimatedImage/contentIdentity()``.
  ///
  /// May read the whole file. Throws `cancelled` once `isCancelled` gives true.
  func identity(
    of image: AnimatedImage, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity
}

extension FrameCaching {
  /// The pixels stored under `key`, if they are still there.
  public func bitmap(for key: FrameKey) -> Bitmap? { frame(for: key)?.bitmap }

  /// Keeps the pixels of a frame without damage under `key`.
  public func store(_ bitmap: Bitmap, for key: FrameKey) { store(CachedFrame(bitmap), for: key) }

  /// A hold that does nothing, for caches that need none.
  public func hold(_ animation: AnimationKey) -> FrameHold { FrameHold() }

  /// False.
  public var mayBlock: Bool { false }

  /// The identity in this process.
  public func identity(
    of image: AnimatedImage, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity {
    try image.contentIdentity(isCancelled: isCancelled)
  }
}

/// Names one cached bitmap: which bytes, which frame of them, and what was done to it.
public struct FrameKey: Sendable, Hashable {
  /// The bytes and what was done to their frames: what all frames of one playback share.
  public let animation: AnimationKey
  /// The frame, from 0.
  public let index: Int

  /// The key of frame `index` of `animation`.
  public init(_ animation: AnimationKey, index: Int) {
    self.animation = animation
    self.index = index
  }
}

/// Names all cached bitmaps of one image in one ``Rendition``.
public struct AnimationKey: Sendable, Hashable {
  /// The bytes of the image.
  public let content: ContentIdentity
  /// What was done to its frames.
  public let rendition: Rendition

  /// The key of the image with these bytes, rendered so.
  public init(content: ContentIdentity, rendition: Rendition) {
    self.content = content
    self.rendition = rendition
  }

  /// The key of its frame `index`.
  public subscript(index: Int) -> FrameKey { FrameKey(self, index: index) }
}

/// Keeps an animation's last two cached frames from eviction for as long as it lives.
///
/// Ends once: at ``end()`` or when the last reference goes, whichever is first.
public final class FrameHold: Sendable {
  private let ending: Mutex<(@Sendable () -> Void)?>

  /// A hold that calls `atEnd` once when it ends; by default nothing.
  public init(atEnd: (@Sendable () -> Void)? = nil) { ending = Mutex(atEnd) }

  /// Ends the hold now. Calling it again does nothing.
  public func end() {
    let call = ending.withLock { $0.take() }
    call?()
  }

  deinit { end() }
}

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
