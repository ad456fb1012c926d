/// Reads rendered frames in any order. If there is a cache, the reader looks frames up in the cache and stores decoded
/// frames there.
///
/// From its first frame until ``rest()`` or its release, the reader holds its animation in the cache, which protects
/// frames from eviction. A reader is not thread-safe. Several readers of one image may share the cache and the
/// checkpoints.
package final class RenderedReader {
  /// The key under which the animation's frames are cached, or nil before the first frame and if frames are not cached.
  package private(set) var animation: AnimationKey?
  private let origin: any ImageOrigin
  private let cache: (any FrameCaching)?
  private let reader: SeekingReader
  private var renderer: FrameRenderer
  private var hold: FrameHold?
  /// The filler that stores decoded frames in the other formats of the rendering's family, or nil if there is nothing
  /// to fill.
  private var filler: (any FrameFilling)?
  /// The index of the frame that was read last, or -1 before the first frame.
  private var lastIndex = -1
  /// Whether ``animation`` has been determined and no longer changes.
  private var hasLookedUp = false

  /// Creates a reader of `origin`. Nothing is read yet.
  ///
  /// - Parameters:
  ///   - rendering: The size and format of the frames. Default: the size and format in which frames are decoded.
  ///   - cache: The cache of rendered frames. Default: nil, no caching.
  ///   - store: The store for checkpoints. Default: nil, which selects the store that random access to the image uses.
  ///   - role: The purpose of the reader.
  package convenience init(
    _ origin: any ImageOrigin, rendering: Rendering = .init(), cache: (any FrameCaching)? = nil,
    store: CheckpointStore? = nil, for role: ReaderRole = .reading
  ) {
    self.init(
      origin, FrameRenderer(rendering, of: origin.canvasSize, options: origin.options),
      cache: cache, store: store, for: role)
  }

  init(
    _ origin: any ImageOrigin, _ renderer: FrameRenderer, cache: (any FrameCaching)?,
    store: CheckpointStore? = nil, for role: ReaderRole
  ) {
    self.origin = origin
    self.renderer = renderer
    self.cache = cache
    reader = SeekingReader(origin, store: store, keepsCheckpoints: false, for: role)
  }

  deinit { hold?.end() }

  package var decodedCount: Int { reader.decodedCount }

  /// The index of the last frame that will be read in order, or nil if all frames will be read. Later frames are not
  /// decoded ahead.
  var lastWanted: Int? {
    get { reader.lastWanted }
    set { reader.lastWanted = newValue }
  }

  /// Whether the frames are read in order and only once.
  var isOnePass: Bool {
    get { reader.isOnePass }
    set { reader.isOnePass = newValue }
  }

  /// Returns frame `index`. If the frame was cached, its dirty rectangle is the whole bitmap.
  ///
  /// A cache finds frames by the ``ContentIdentity`` of the image. If there is a cache and the identity is not known
  /// yet, the first call reads the whole file to compute it.
  ///
  /// - Throws: The errors of ``SeekingReader/frame(at:)``.
  package func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame {
    try frame(at: index) { false }
  }

  /// Returns frame `index` like ``frame(at:)``, but throws `cancelled` once `isCancelled` returns true. `isCancelled`
  /// is called between frames, between scaled rows, and while the file is hashed.
  package func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    try renderer.check()
    if let cache { try findCachedFrames(in: cache, isCancelled) }
    reader.isFollowingOrder = cache != nil && index == lastIndex + 1
    lastIndex = index
    let key = animation?[index]
    if let key, let frame = cache?.frame(for: key) {
      return CompositedFrame(index: index, bitmap: frame.bitmap, damage: frame.damage)
    }
    let composited = try reader.frame(at: index, isCancelled: isCancelled)
    origin.noteDecoded(index)
    if renderer.rendering == Rendering(), cache == nil { return composited }
    let frame = try renderer.render(composited, isCancelled: isCancelled)
    // If the file has been overwritten, these pixels do not belong to the identity in the key.
    if let key, origin.isUnchanged {
      cache?.storeIfPossible(CachedFrame(frame.bitmap, damage: frame.damage), for: key)
      filler?.fillIfPossible(composited, isCancelled: isCancelled)
    }
    return frame
  }

  /// Determines the animation key if it is not known yet, and begins a hold on the animation if there is none.
  private func findCachedFrames(
    in cache: any FrameCaching, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    if !hasLookedUp {
      let isOpen = origin.arrivals?.arrival(after: .max).isOpen ?? false
      animation = try origin.animationKey(renderer.rendition, in: cache, isCancelled: isCancelled)
      if let animation {
        filler = cache.filler(besides: renderer.rendering, of: origin, animation.content)
        if let shown = ShownFrames(animation, of: origin, in: cache) {
          reader.shownCanvas = { [origin] range in shown.last(in: range, of: origin) }
        }
      }
      // An image that is still arriving has no identity yet, but may get one later.
      hasLookedUp = animation != nil || !isOpen
    }
    if hold == nil, let animation {
      hold = (cache as? any QuickCaching)?.hold(animation) ?? FrameHold()
    }
  }
}

extension RenderedReader: FrameProducing {
  package func fetch(for index: Int) -> FrameFetch? {
    guard origin.isFetched else { return nil }
    if let cache { try? findCachedFrames(in: cache) { false } }
    if let animation, cache?.frame(for: animation[index]) != nil { return nil }
    return reader.fetch(for: index)
  }

  /// Releases the memory that is reserved for the next frames, and ends the hold on the cached frames until the next
  /// frame is read.
  package func rest() {
    reader.rest()
    renderer.rest()
    hold?.end()
    hold = nil
  }
}

extension ImageOrigin {
  /// Returns the key of the image's frames in `cache`. Returns nil if the frames cannot be cached, for example because
  /// the file was overwritten after it was opened.
  ///
  /// - Throws: `cancelled` once `isCancelled` returns true.
  func animationKey(
    _ rendition: Rendition, in cache: any FrameCaching, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> AnimationKey? {
    do throws(AnimatedImageError) {
      return try identity(in: cache, isCancelled: isCancelled).map {
        AnimationKey(content: $0, rendition: rendition)
      }
    } catch {
      if error.code == .cancelled { throw error }
      return nil
    }
  }
}

/// Finds cached frames from which a replay can start. If the next frame is drawn directly on a cached frame, that
/// cached frame serves as a checkpoint and takes no additional memory.
struct ShownFrames: Sendable {
  private let cache: any QuickCaching
  private let animation: AnimationKey

  /// Creates a finder of the frames of `animation` in `cache`. Returns nil if the cached frames are not canvases of
  /// `image` because they were scaled, converted or drawn on, or if `cache` does not conform to ``QuickCaching``, so
  /// that looking for frames might wait for a disk or run the user's code.
  init?(_ animation: AnimationKey, of image: any ImageOrigin, in cache: any FrameCaching) {
    guard animation.rendition.scaling == nil, animation.rendition.drawing == nil,
      animation.rendition.format == image.options.canvasFormat,
      let cache = cache as? any QuickCaching
    else { return nil }
    self.cache = cache
    self.animation = animation
  }

  /// Returns the last frame of `range` that is cached and on which the next frame is drawn directly, or nil if there is
  /// none.
  func last(in range: Range<Int>, of image: any ImageOrigin) -> (index: Int, canvas: Bitmap)? {
    var range = range
    while let found = cache.lastBitmap(in: range, of: animation) {
      if image.control(found.index).disposal == .keep { return (found.index, found.bitmap) }
      range = range.lowerBound..<found.index
    }
    return nil
  }
}
