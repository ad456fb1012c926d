/// Gives rendered frames in any order: from a cache when they are there, else decoded and put there.
///
/// Holds its animation in the cache while it lives. One owner at a time; several readers of one image
/// may share its cache and checkpoints.
package final class CachedFrameReader {
  /// The keys under which its frames are cached.
  package let animation: AnimationKey
  private let cache: any FrameCaching
  private let hold: FrameHold
  private let reader: SeekingReader
  private var renderer: FrameRenderer
  /// What was wrong with frames decoded here: the cache keeps pixels only.
  private var damage: [Int: Damage] = [:]

  /// A reader of `opened`, rendered by `rendering`. Nothing is decoded yet.
  package init(_ opened: OpenedImage, rendering: Rendering = .init(), cache: any FrameCaching) {
    let image = opened.image
    renderer = FrameRenderer(rendering, of: image.canvasSize, options: image.options)
    animation = AnimationKey(content: opened.identity, rendition: renderer.rendition)
    self.cache = cache
    hold = cache.hold(animation)
    reader = SeekingReader(image, store: opened.checkpoints)
  }

  deinit { hold.end() }

  /// Frames decoded so far, replays included.
  package var decodedCount: Int { reader.decodedCount }

  /// Frame `index`. A frame from the cache is dirty all over.
  ///
  /// - Throws: As ``SeekingReader/frame(at:)``.
  package func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame {
    let key = animation[index]
    if let bitmap = cache.bitmap(for: key) {
      return CompositedFrame(
        index: index, bitmap: bitmap, dirtyRect: PixelRect(bitmap.size), damage: damage[index])
    }
    let frame = try renderer.render(reader.frame(at: index))
    damage[index] = frame.damage
    cache.store(frame.bitmap, for: key)
    return frame
  }
}

extension CachedFrameReader: FrameProducing {}
