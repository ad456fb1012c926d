/// Reads rendered frames in any order. Looks them up in the cache, if there is one, and stores
/// decoded frames there.
///
/// Holds its animation in the cache from its first frame until ``rest()`` or deinitialization. Not
/// thread-safe; several readers of one image may share its cache and checkpoints.
package final class CachedFrameReader {
  /// The key of its cached frames; nil before the first frame, and if frames are not cached.
  package private(set) var animation: AnimationKey?
  private let image: AnimatedImage
  private let cache: (any FrameCaching)?
  private let reader: SeekingReader
  private var renderer: FrameRenderer
  private var hold: FrameHold?
  /// Stores decoded frames in the other formats of the family; nil without a family.
  private var filler: FrameFiller?
  /// The last frame read; -1 before the first.
  private var lastIndex = -1
  /// Whether the identity of the image's bytes was requested.
  private var hasAskedForIdentity = false

  /// A reader of `image`. Nothing is read yet.
  package convenience init(
    _ image: AnimatedImage, rendering: Rendering = .init(), cache: (any FrameCaching)?
  ) {
    self.init(
      image, renderer: FrameRenderer(rendering, of: image.canvasSize, options: image.options),
      cache: cache)
  }

  init(_ image: AnimatedImage, renderer: FrameRenderer, cache: (any FrameCaching)?) {
    self.image = image
    self.renderer = renderer
    self.cache = cache
    reader = SeekingReader(
      image, store: image.access.checkpoints(of: image), keepsCheckpoints: false)
  }

  deinit { hold?.end() }

  /// Frames decoded so far, replays included.
  package var decodedCount: Int { reader.decodedCount }

  /// Returns frame `index`. The dirty rectangle of a cached frame is the whole picture.
  ///
  /// With a cache, the first call reads the whole image, unless its identity is known.
  ///
  /// - Throws: As ``SeekingReader/frame(at:)``.
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
    let frame = try renderer.render(composited, isCancelled: isCancelled)
    // If the file has been overwritten, these pixels do not match the identity in the key.
    if let key, image.source.isUnchanged {
      cache?.store(CachedFrame(frame.bitmap, damage: frame.damage), for: key)
      filler?.fillIfPossible(composited, isCancelled: isCancelled)
    }
    return frame
  }

  /// Determines the animation key once and holds the animation in the cache.
  private func findCachedFrames(
    in cache: any FrameCaching, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    if !hasAskedForIdentity {
      do throws(AnimatedImageError) {
        let identity = try cache.identity(of: image, isCancelled: isCancelled)
        let animation = AnimationKey(content: identity, rendition: renderer.rendition)
        self.animation = animation
        filler = cache.backing?.filler(besides: renderer.rendering, of: image, identity)
        if let shown = ShownFrames(animation, of: image, in: cache) {
          reader.shownCanvas = { [frames = image.frames] range in shown.last(in: range, of: frames)
          }
        }
      } catch {
        if error.code == .cancelled { throw error }
        // A file overwritten since it was opened is played but not cached.
      }
      hasAskedForIdentity = true
    }
    if hold == nil, let animation { hold = cache.hold(animation) }
  }

  /// Ends the hold on the cached frames until the next one is read.
  package func rest() {
    reader.rest()
    renderer.rest()
    hold?.end()
    hold = nil
  }
}

/// Finds cached frames that a replay can start from. A cached frame that the next one is drawn on
/// serves as a checkpoint and takes no additional memory.
package struct ShownFrames: Sendable {
  private let cache: MemoryFrameCache
  private let animation: AnimationKey

  /// The frames of `animation` in `cache`; nil if they are not canvases of `image`, or if this type
  /// of cache cannot be searched.
  init?(_ animation: AnimationKey, of image: AnimatedImage, in cache: (any FrameCaching)?) {
    guard let cache = cache as? MemoryFrameCache, animation.rendition.scaling == nil,
      animation.rendition.drawing == nil, animation.rendition.format == image.options.canvasFormat
    else { return nil }
    self.cache = cache
    self.animation = animation
  }

  /// The last cached frame of `range` that the next frame is drawn on.
  func last(in range: Range<Int>, of frames: [FrameControl]) -> (index: Int, canvas: Bitmap)? {
    var range = range
    while let found = cache.lastBitmap(in: range, of: animation) {
      if frames[found.index].disposal == .keep { return found }
      range = range.lowerBound..<found.index
    }
    return nil
  }
}
