internal import Synchronization

/// A rendered frame in the form in which a cache keeps it.
public struct CachedFrame: Sendable {
  /// The pixels of the frame.
  public let bitmap: Bitmap
  /// The damage found in the frame, or nil if the frame is intact.
  public let damage: Damage?
  /// The number of bytes that the pixels take, including padding.
  public var byteCount: Int { bitmap.byteCount }

  /// Creates a frame to cache from its pixels and the damage found in it. By default, there is no damage.
  public init(_ bitmap: Bitmap, damage: Damage? = nil) {
    self.bitmap = bitmap
    self.damage = damage
  }
}

/// A cache of rendered frames. Implement this protocol if ``MemoryFrameCache`` does not suit your needs.
///
/// The methods are called from any thread and must not block for long. A cache may drop any frame at any time, but a
/// frame that it returns must be the frame last stored under an equal key.
public protocol FrameCaching: Sendable {
  /// Returns the frame stored under `key`, or nil if the cache has no such frame.
  func frame(for key: FrameKey) -> CachedFrame?
  /// Stores `frame` under `key` if the cache has room for it, and replaces any frame stored under `key` before.
  func storeIfPossible(_ frame: CachedFrame, for key: FrameKey)
  /// Removes all frames of the image with this content, in all renditions.
  func remove(_ content: ContentIdentity)
  /// Removes all frames of all images from the cache.
  func removeAll()
  /// Whether looking up or storing a frame may wait for a disk. Default: false.
  ///
  /// If true, frames are looked up and stored only on the library's own threads, never on the cooperative pool or on
  /// the thread that delivers frames on time.
  var mayBlock: Bool { get }
  /// The cache that is queried for frames that this cache lacks. Default: nil, which means that there is no such cache.
  ///
  /// If the backing cache is a ``FrameStore``, a frame that is decoded for one format is stored in all formats of the
  /// same family, and ``FrameLoader`` opens files and shows their posters from the store.
  var backing: (any FrameCaching)? { get }
  /// Returns the identity that this cache uses in its keys for `image`. Default: the identity in this process,
  /// ``AnimatedImage/contentIdentity()``.
  ///
  /// This method may read the whole file.
  ///
  /// - Throws: `cancelled` once `isCancelled` returns true.
  func identity(
    of image: AnimatedImage, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity
}

extension FrameCaching {
  /// Returns the bitmap stored under `key`, or nil if the cache has no such bitmap.
  package func bitmap(for key: FrameKey) -> Bitmap? { frame(for: key)?.bitmap }

  /// Stores `bitmap` under `key` as a frame without damage.
  package func storeIfPossible(_ bitmap: Bitmap, for key: FrameKey) {
    storeIfPossible(CachedFrame(bitmap), for: key)
  }

  /// The default implementation: false.
  public var mayBlock: Bool { false }

  /// The default implementation: nil, which means that there is no backing cache.
  public var backing: (any FrameCaching)? { nil }

  /// The default implementation: returns the image's identity in this process, like
  /// ``AnimatedImage/contentIdentity()``.
  public func identity(
    of image: AnimatedImage, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity {
    try image.contentIdentity(isCancelled: isCancelled)
  }
}

/// A cache that runs no code of the library's user, so that a thread with deadlines may query it.
package protocol QuickCaching: FrameCaching {
  /// Marks `animation` as being played until the returned hold ends.
  ///
  /// Whatever its limits, the cache keeps the two most recently used frames of an animation that has a hold, so that
  /// one player cannot starve another.
  func hold(_ animation: AnimationKey) -> FrameHold
  /// Returns the bitmap and index of the last frame in `range` whose bitmap is in memory, or nil if there is none. A
  /// replay can start from that frame.
  func lastBitmap(in range: Range<Int>, of animation: AnimationKey) -> (index: Int, bitmap: Bitmap)?
}

/// A cache that may keep each frame in several formats.
package protocol FormatKeeping: FrameCaching {
  /// Returns a filler that stores decoded frames of `image` in the other formats of the family to which `rendering`
  /// belongs, or nil if there are no such formats.
  func filler(
    ofFamily rendering: Rendering, of image: any ImageOrigin, _ content: ContentIdentity
  ) -> (any FrameFilling)?
  /// Removes the frames that are stored in `format` for the image with this content.
  func remove(_ content: ContentIdentity, in format: FrameFormat)
  /// Removes all frames that are stored in a format with the same name as `format`, whatever image they belong to.
  func removeAll(in format: FrameFormat)
}

/// A filler: a value that stores the decoded frames of one image in several formats of a cache.
package protocol FrameFilling: Sendable {
  /// Stores `frame` in each of the filler's formats in which it is not stored yet. Errors are recorded, not thrown.
  mutating func fillIfPossible(_ frame: CompositedFrame, isCancelled: () -> Bool)
}

extension FrameCaching {
  /// This cache, its backing cache, the backing cache of that one, and so on.
  package var levels: UnfoldFirstSequence<any FrameCaching> {
    sequence(first: self as any FrameCaching) { $0.backing }
  }

  /// Returns a filler that stores decoded frames of `image` in the other formats of the family to which `rendering`
  /// belongs, or nil if there is nothing to fill. The filler comes from the first cache in ``levels`` that keeps
  /// several formats.
  func filler(
    besides rendering: Rendering, of image: any ImageOrigin, _ content: ContentIdentity
  ) -> (any FrameFilling)? {
    let keeper = levels.lazy.compactMap { $0 as? any FormatKeeping }.first
    return keeper?.filler(ofFamily: rendering, of: image, content)
  }
}

/// A hold on an animation: while it exists, the animation's two most recently used frames are not evicted from the
/// cache.
///
/// A hold ends once, when ``end()`` is called or when the last reference to it is released, whichever comes first.
package final class FrameHold: Sendable {
  private let ending: Mutex<(@Sendable () -> Void)?>

  /// Creates a hold that calls `atEnd` once, when the hold ends. Default: nil, no call.
  package init(atEnd: (@Sendable () -> Void)? = nil) { ending = Mutex(atEnd) }

  /// Ends the hold. Calling this method again does nothing.
  package func end() {
    let call = ending.withLock { $0.take() }
    call?()
  }

  deinit { end() }
}
