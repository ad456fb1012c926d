/// Reads rendered frames in any order. If there is a cache, looks frames up in it and stores decoded frames there.
///
/// Holds its animation in the cache from its first frame until ``rest()`` or deinitialization. Not
/// thread-safe; several readers of one image may share its cache and checkpoints.
package final class RenderedReader {
  /// The key of the cached frames; nil before the first frame, and if frames are not cached.
  package private(set) var animation: AnimationKey?
  private let origin: any ImageOrigin
  private let cache: (any FrameCaching)?
  private let reader: SeekingReader
  private var renderer: FrameRenderer
  private var hold: FrameHold?
  /// Stores decoded frames in the other formats of the family; nil without a family.
  private var filler: (any FrameFilling)?
  /// The last frame read; -1 before the first.
  private var lastIndex = -1
  /// Whether ``animation`` is final.
  private var hasLookedUp = false

  /// Creates a reader of `origin`. Nothing is read yet.
  ///
  /// - Parameters:
  ///   - rendering: The size and format of the frames. Default: as decoded.
  ///   - cache: The cache of rendered frames.
  ///   - store: The store for checkpoints. Default: nil, the one for the image's random access.
  ///   - role: The reader's purpose.
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

  /// The last frame that will be read in order; nil for all. Later ones are not decoded ahead.
  var lastWanted: Int? {
    get { reader.lastWanted }
    set { reader.lastWanted = newValue }
  }

  /// Whether frames are read only once, in order.
  var isOnePass: Bool {
    get { reader.isOnePass }
    set { reader.isOnePass = newValue }
  }

  /// Returns frame `index`. The dirty rectangle of a cached frame is the whole picture.
  ///
  /// With a cache, the first call reads the whole image, unless its identity is known.
  ///
  /// - Throws: The errors of ``SeekingReader/frame(at:)``.
  package func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame {
    try frame(at: index) { false }
  }

  /// Like ``frame(at:)``, but throws `cancelled` once `isCancelled` returns true: between frames,
  /// between scaled rows and while the file is hashed.
  package func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    try renderer.check()
    if let cache { try findCachedFrames(in: cache, isCancelled) }
    reader.isFollowingOrder = cache != nil && index == lastIndex + 1
    lastIndex = index
    let key = animation?[index]
    if let key, let frame = cache?.frame(for: key) {
      return CompositedFrame(
        index: index, bitmap: frame.bitmap, dirtyRect: PixelRect(frame.bitmap.size),
        damage: frame.damage)
    }
    let composited = try reader.frame(at: index, isCancelled: isCancelled)
    origin.noteDecoded(index)
    if renderer.rendering == Rendering(), cache == nil { return composited }
    let frame = try renderer.render(composited, isCancelled: isCancelled)
    // If the file has been overwritten, these pixels do not match the identity in the key.
    if let key, origin.isUnchanged {
      cache?.storeIfPossible(CachedFrame(frame.bitmap, damage: frame.damage), for: key)
      filler?.fillIfPossible(composited, isCancelled: isCancelled)
    }
    return frame
  }

  /// Determines the animation key once and holds the animation in the cache.
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
      // An image that is still arriving has no identity, but may get one later.
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

  /// Ends the hold on the cached frames until the next one is read.
  package func rest() {
    reader.rest()
    renderer.rest()
    hold?.end()
    hold = nil
  }
}

extension ImageOrigin {
  /// Returns the key of the image's frames in `cache`; nil if they cannot be cached, for example because the file was
  /// overwritten after it was opened.
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

/// Finds cached frames that a replay can start from. A cached frame that the next frame is drawn on directly serves as
/// a checkpoint that takes no additional memory.
struct ShownFrames: Sendable {
  private let cache: any QuickCaching
  private let animation: AnimationKey

  /// Finds frames of `animation` in `cache`. Nil if the cached frames are not canvases of `image`, or are not in
  /// memory.
  init?(_ animation: AnimationKey, of image: any ImageOrigin, in cache: any FrameCaching) {
    guard animation.rendition.scaling == nil, animation.rendition.drawing == nil,
      animation.rendition.format == image.options.canvasFormat,
      let cache = cache as? any QuickCaching
    else { return nil }
    self.cache = cache
    self.animation = animation
  }

  /// Returns the last cached frame of `range` that the next frame is drawn on directly.
  func last(in range: Range<Int>, of image: any ImageOrigin) -> (index: Int, canvas: Bitmap)? {
    var range = range
    while let found = cache.lastBitmap(in: range, of: animation) {
      if image.control(found.index).disposal == .keep { return (found.index, found.bitmap) }
      range = range.lowerBound..<found.index
    }
    return nil
  }
}
