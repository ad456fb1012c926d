internal import Synchronization

/// What an opened image keeps from one random access to the next: the identity of its bytes, canvases
/// to start replays from, and a reader that stands somewhere. All copies of the image share it.
///
/// Nothing is made before it is needed. The canvases are charged to the budget, the reader's own too,
/// and go when the budget asks for them.
package final class FrameAccess: Sendable {
  private let ownBudget: MemoryBudget?
  private let state = Mutex(State())

  fileprivate struct State: Sendable {
    var identity: ContentIdentity?
    var checkpoints: CheckpointStore?
    var frames: SharedFrames?
    /// In the cache that was named last.
    var shownFrames: ShownFrames?
  }

  /// Charges what it keeps to `budget`; nil is the budget of the process, which asks the machine how
  /// much memory there is when it is made, and is not made for images that are only looked into.
  init(budget: MemoryBudget? = nil) { ownBudget = budget }

  var budget: MemoryBudget { ownBudget ?? .shared }

  /// The identity of the image's bytes, once somebody has worked it out.
  package var identity: ContentIdentity? {
    get { state.withLock { $0.identity } }
    set { state.withLock { $0.identity = newValue } }
  }

  /// Cached frames that replays may start from.
  package var shownFrames: ShownFrames? {
    get { state.withLock { $0.shownFrames } }
    set {
      // Freed, should it be the last one of a cache, after the lock is given back.
      let old = state.withLock { state in
        let old = state.shownFrames
        state.shownFrames = newValue
        return old
      }
      _ = consume old
    }
  }

  /// The canvases kept for `image`, whose access this is.
  package func checkpoints(of image: AnimatedImage) -> CheckpointStore {
    state.withLock { $0.store(for: image, budget) }
  }

  /// The frames of `image`, by one reader that stays where it was.
  package func frames(of image: AnimatedImage) -> SharedFrames {
    if let frames = state.withLock({ $0.frames }) { return frames }
    // Read through a copy with an access of its own: this one would hold itself otherwise.
    let bare = image.charged(to: budget)
    return state.withLock { state in
      if let frames = state.frames { return frames }
      let checkpoints = state.store(for: image, budget)
      let frames = SharedFrames(
        frames: image.frames, canvasSize: image.canvasSize, playCount: image.playCount, keeping: 0,
        resting: RestingCost(in: budget, ofReader: checkpoints.canvasCost)
      ) { [weak self] () throws(AnimatedImageError) in
        let reader = SeekingReader(bare, store: checkpoints)
        reader.shownFrames = { [weak self] in self?.shownFrames }
        return reader
      }
      state.frames = frames
      return frames
    }
  }
}

extension FrameAccess.State {
  fileprivate mutating func store(
    for image: AnimatedImage, _ budget: MemoryBudget
  ) -> CheckpointStore {
    if let checkpoints { return checkpoints }
    let made = CheckpointStore(for: image, budget: budget)
    checkpoints = made
    return made
  }
}

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
