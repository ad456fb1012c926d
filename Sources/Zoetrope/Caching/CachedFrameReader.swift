/// Gives rendered frames in any order: from a cache when they are there, else decoded and put there.
///
/// Holds its animation in the cache from a frame on until it rests or is let go. One owner at a time;
/// several readers of one image may share its cache and checkpoints.
package final class CachedFrameReader {
  /// The keys under which its frames are cached; nil before the first frame, and when they are not.
  package private(set) var animation: AnimationKey?
  private let image: AnimatedImage
  private let cache: any FrameCaching
  private let reader: SeekingReader
  private var renderer: FrameRenderer
  private var hold: FrameHold?
  /// The frame asked for last; -1 before the first.
  private var lastIndex = -1
  /// Whether the image's bytes were looked at to find out where frames are cached.
  private var hasAskedForIdentity = false

  /// A reader of `image`. Nothing is read yet.
  package convenience init(
    _ image: AnimatedImage, rendering: Rendering = .init(), cache: any FrameCaching
  ) {
    self.init(
      image, renderer: FrameRenderer(rendering, of: image.canvasSize, options: image.options),
      cache: cache)
  }

  init(_ image: AnimatedImage, renderer: FrameRenderer, cache: any FrameCaching) {
    self.image = image
    self.renderer = renderer
    self.cache = cache
    reader = SeekingReader(
      image, store: image.access.checkpoints(of: image), keepsCheckpoints: false)
  }

  deinit { hold?.end() }

  /// Frames decoded so far, replays included.
  package var decodedCount: Int { reader.decodedCount }

  /// Frame `index`. A frame from the cache is dirty all over.
  ///
  /// The first call reads the image's bytes whole, unless their identity is known.
  ///
  /// - Throws: As ``SeekingReader/frame(at:)``.
  package func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame {
    try frame(at: index) { false }
  }

  /// As ``frame(at:)``; throws `cancelled` between frames, between rows of scaling, and while the bytes
  /// are read, once `isCancelled` gives true.
  package func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    try findCachedFrames(isCancelled)
    reader.isFollowingOrder = index == lastIndex + 1
    lastIndex = index
    let key = animation?[index]
    if let key, let frame = cache.frame(for: key) {
      return CompositedFrame(
        index: index, bitmap: frame.bitmap, dirtyRect: PixelRect(frame.bitmap.size),
        damage: frame.damage)
    }
    let frame = try renderer.render(
      reader.frame(at: index, isCancelled: isCancelled), isCancelled: isCancelled)
    // Pixels of a file that was written over meanwhile are not those of the bytes in the key.
    if let key, image.source.isUnchanged {
      cache.store(CachedFrame(frame.bitmap, damage: frame.damage), for: key)
    }
    return frame
  }

  /// Finds out where frames are cached, once, and holds them there.
  private func findCachedFrames(_ isCancelled: () -> Bool) throws(AnimatedImageError) {
    if !hasAskedForIdentity {
      do throws(AnimatedImageError) {
        let identity = try image.contentIdentity(isCancelled: isCancelled)
        let animation = AnimationKey(content: identity, rendition: renderer.rendition)
        self.animation = animation
        if let shown = ShownFrames(animation, of: image, in: cache) {
          reader.shownFrames = { shown }
        }
      } catch {
        if error.code == .cancelled { throw error }
        // A file that was written over since it was opened is played as it is and not cached.
      }
      hasAskedForIdentity = true
    }
    if hold == nil, let animation { hold = cache.hold(animation) }
  }
}

extension CachedFrameReader: FrameProducing {
  /// Ends the hold on the cached frames until the next one is asked for.
  package func rest() {
    hold?.end()
    hold = nil
  }
}
