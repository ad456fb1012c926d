/// Gives rendered frames in any order: from a cache when they are there, else decoded and put there.
///
/// Holds its animation in the cache while it lives. One owner at a time; several readers of one image
/// may share its cache and checkpoints.
package final class CachedFrameReader {
  /// The keys under which its frames are cached; nil when they are not.
  package let animation: AnimationKey?
  private let cache: any FrameCaching
  private let hold: FrameHold?
  private let reader: SeekingReader
  private var renderer: FrameRenderer
  /// What was wrong with frames decoded here: the cache keeps pixels only.
  private var damage: [Int: Damage] = [:]

  /// A reader of `opened`, rendered by `rendering`. Nothing is decoded yet.
  package convenience init(
    _ opened: OpenedImage, rendering: Rendering = .init(), cache: any FrameCaching
  ) {
    self.init(
      opened.image, identity: opened.identity, checkpoints: opened.checkpoints,
      rendering: rendering, cache: cache)
  }

  /// A reader of `image`. Without an `identity`, it decodes every frame and caches none.
  init(
    _ image: AnimatedImage, identity: ContentIdentity?, checkpoints: CheckpointStore,
    rendering: Rendering, cache: any FrameCaching
  ) {
    let renderer = FrameRenderer(rendering, of: image.canvasSize, options: image.options)
    self.renderer = renderer
    animation = identity.map { AnimationKey(content: $0, rendition: renderer.rendition) }
    self.cache = cache
    hold = animation.map { cache.hold($0) }
    reader = SeekingReader(image, store: checkpoints, keepsCheckpoints: false)
    if let shown = animation.flatMap({ ShownFrames($0, of: image, in: cache) }) {
      reader.shownFrames = { shown }
    }
  }

  deinit { hold?.end() }

  /// Frames decoded so far, replays included.
  package var decodedCount: Int { reader.decodedCount }

  /// Frame `index`. A frame from the cache is dirty all over.
  ///
  /// - Throws: As ``SeekingReader/frame(at:)``.
  package func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame {
    try frame(at: index) { false }
  }

  /// As ``frame(at:)``; throws `cancelled` between frames, and between rows of scaling, once
  /// `isCancelled` gives true.
  package func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    let key = animation?[index]
    if let key, let bitmap = cache.bitmap(for: key) {
      return CompositedFrame(
        index: index, bitmap: bitmap, dirtyRect: PixelRect(bitmap.size), damage: damage[index])
    }
    let frame = try renderer.render(
      reader.frame(at: index, isCancelled: isCancelled), isCancelled: isCancelled)
    damage[index] = frame.damage
    // Pixels of a file that was written over meanwhile are not those of the bytes in the key.
    if let key, reader.image.source.isUnchanged { cache.store(frame.bitmap, for: key) }
    return frame
  }
}

extension CachedFrameReader: FrameProducing {}
