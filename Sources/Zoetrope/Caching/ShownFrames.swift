/// Finds cached frames to start a replay from: a frame that the one after it is drawn on is as good as
/// a checkpoint, and costs no memory of its own.
package struct ShownFrames: Sendable {
  private let cache: MemoryFrameCache
  private let animation: AnimationKey

  /// The frames of `animation` in `cache`; nil when they are not canvases of `image`, or the cache is
  /// of a type that cannot be searched.
  init?(_ animation: AnimationKey, of image: AnimatedImage, in cache: (any FrameCaching)?) {
    guard let cache = cache as? MemoryFrameCache, animation.rendition.scaling == nil,
      animation.rendition.format == image.options.canvasFormat
    else { return nil }
    self.cache = cache
    self.animation = animation
  }

  /// The last frame of `range` that is cached and on which the next one is drawn.
  func last(in range: Range<Int>, of frames: [FrameControl]) -> (index: Int, canvas: Bitmap)? {
    var range = range
    while let found = cache.lastBitmap(in: range, of: animation) {
      if frames[found.index].disposal == .keep { return found }
      range = range.lowerBound..<found.index
    }
    return nil
  }
}
