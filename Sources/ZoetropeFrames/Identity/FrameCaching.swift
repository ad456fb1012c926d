internal import Synchronization

/// A rendered frame as a cache keeps it.
public struct CachedFrame: Sendable {
  /// The pixels.
  public let bitmap: Bitmap
  /// Damage found in the frame, if any.
  public let damage: Damage?
  /// Bytes of the pixels, padding included.
  public var byteCount: Int { bitmap.byteCount }

  /// Creates a frame to cache. Default: no damage.
  public init(_ bitmap: Bitmap, damage: Damage? = nil) {
    self.bitmap = bitmap
    self.damage = damage
  }
}

/// A cache of rendered frames. Implement it where ``MemoryFrameCache`` does not fit.
///
/// Methods are called from any thread and must not block for long. A cache may drop any frame at
/// any time, but a frame that it returns must be the one last stored under an equal key.
public protocol FrameCaching: Sendable {
  /// Returns the frame stored under `key`, if it is still there.
  func frame(for key: FrameKey) -> CachedFrame?
  /// Stores `frame` under `key` if there is room for it, replacing any previous frame.
  func storeIfPossible(_ frame: CachedFrame, for key: FrameKey)
  /// Removes every frame of the image with this content, in every rendition.
  func remove(_ content: ContentIdentity)
  /// Removes all frames of all images.
  func removeAll()
  /// Whether looking up and storing may wait for a disk. Default: false.
  ///
  /// If true, these calls are made only on the library's own threads, never on the cooperative pool or on the thread
  /// that delivers frames on time.
  var mayBlock: Bool { get }
  /// The cache that is queried for frames that this cache lacks. Default: nil, none.
  ///
  /// If it is a ``FrameStore``, frames decoded for one format are stored in all formats of its family, and
  /// ``FrameLoader`` opens files and shows their posters from the store.
  var backing: (any FrameCaching)? { get }
  /// Returns the identity of the image's bytes that this cache uses in its keys. Default: the identity in this process,
  /// ``AnimatedImage/contentIdentity()``.
  ///
  /// May read the whole file. Throws `cancelled` once `isCancelled` returns true.
  func identity(
    of image: AnimatedImage, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity
}

extension FrameCaching {
  /// Returns the bitmap stored under `key`, if it is still there.
  package func bitmap(for key: FrameKey) -> Bitmap? { frame(for: key)?.bitmap }

  /// Stores `bitmap` under `key` as a frame without damage.
  package func storeIfPossible(_ bitmap: Bitmap, for key: FrameKey) {
    storeIfPossible(CachedFrame(bitmap), for: key)
  }

  /// False.
  public var mayBlock: Bool { false }

  /// Nil.
  public var backing: (any FrameCaching)? { nil }

  /// Returns the identity in this process.
  public func identity(
    of image: AnimatedImage, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity {
    try image.contentIdentity(isCancelled: isCancelled)
  }
}

/// A cache that runs none of the caller's code, so a thread with deadlines may query it.
package protocol QuickCaching: FrameCaching {
  /// Marks `animation` as being played until the hold ends or is released.
  ///
  /// The cache keeps the two most recently used frames of a held animation, whatever its limits, so that one player
  /// cannot starve another.
  func hold(_ animation: AnimationKey) -> FrameHold
  /// Returns the last frame of `range` that is in memory; a replay may start from it.
  func lastBitmap(in range: Range<Int>, of animation: AnimationKey) -> (index: Int, bitmap: Bitmap)?
}

/// A cache that keeps frames in several formats at the same time.
package protocol FormatKeeping: FrameCaching {
  /// Returns a filler that stores decoded frames of `image` in the other formats of the family of `rendering`; nil if
  /// there are none.
  func filler(
    ofFamily rendering: Rendering, of image: any ImageOrigin, _ content: ContentIdentity
  ) -> (any FrameFilling)?
  /// Removes the frames of one format of the image with this content.
  func remove(_ content: ContentIdentity, in format: FrameFormat)
  /// Removes the frames that any image has in a format with the same name as `format`.
  func removeAll(in format: FrameFormat)
}

/// Stores decoded frames of one image in several formats.
package protocol FrameFilling: Sendable {
  /// Stores `frame` in the formats that lack it. Errors are recorded, not thrown.
  mutating func fillIfPossible(_ frame: CompositedFrame, isCancelled: () -> Bool)
}

extension FrameCaching {
  /// This cache and those behind it.
  package var levels: UnfoldFirstSequence<any FrameCaching> {
    sequence(first: self as any FrameCaching) { $0.backing }
  }

  /// Returns a filler that stores decoded frames of `image` in the other formats of the family of `rendering`; nil if
  /// there are none.
  func filler(
    besides rendering: Rendering, of image: any ImageOrigin, _ content: ContentIdentity
  ) -> (any FrameFilling)? {
    let keeper = levels.lazy.compactMap { $0 as? any FormatKeeping }.first
    return keeper?.filler(ofFamily: rendering, of: image, content)
  }
}

/// Protects an animation's last two cached frames from eviction while it exists.
///
/// Ends once, at ``end()`` or when the last reference is released, whichever comes first.
package final class FrameHold: Sendable {
  private let ending: Mutex<(@Sendable () -> Void)?>

  /// Creates a hold that calls `atEnd` once when it ends. Default: nil.
  package init(atEnd: (@Sendable () -> Void)? = nil) { ending = Mutex(atEnd) }

  /// Ends the hold. Further calls do nothing.
  package func end() {
    let call = ending.withLock { $0.take() }
    call?()
  }

  deinit { end() }
}
