internal import Synchronization

extension AnimatedImage {
  /// What an opened image keeps between random accesses: the identity of its bytes, checkpoints, and
  /// a reader at its last position. All copies of the image share it.
  ///
  /// Everything is created when first needed. Checkpoints and the reader's canvases are charged to
  /// the budget and released on demand.
  package final class Access: Sendable {
    private let ownBudget: MemoryBudget?
    private let state = Mutex(State())

    fileprivate struct State: Sendable {
      var identity: ContentIdentity?
      var checkpoints: CheckpointStore?
      var frames: SharedFrames?
      /// Frames in the cache that was used last.
      var shownFrames: ShownFrames?

      mutating func store(for image: AnimatedImage, _ budget: MemoryBudget) -> CheckpointStore {
        if let checkpoints { return checkpoints }
        let made = CheckpointStore(for: image, budget: budget)
        checkpoints = made
        return made
      }
    }

    /// Charges memory to `budget`; nil for the budget of the process. That one queries the machine's
    /// memory when created, so it is not created for images that are only inspected.
    init(budget: MemoryBudget? = nil) { ownBudget = budget }

    var budget: MemoryBudget { ownBudget ?? .shared }

    /// The identity of the image's bytes; nil until it has been computed.
    package var identity: ContentIdentity? {
      get { state.withLock { $0.identity } }
      set { state.withLock { $0.identity = newValue } }
    }

    /// Cached frames that replays may start from.
    package var shownFrames: ShownFrames? {
      get { state.withLock { $0.shownFrames } }
      set {
        // Freed after the lock is released: it may be the last reference to a cache.
        let old = state.withLock { state in
          let old = state.shownFrames
          state.shownFrames = newValue
          return old
        }
        _ = consume old
      }
    }

    /// The checkpoints of `image`, to which this access must belong.
    package func checkpoints(of image: AnimatedImage) -> CheckpointStore {
      state.withLock { $0.store(for: image, budget) }
    }

    /// The frames of `image`, read by one reader that keeps its position.
    package func frames(of image: AnimatedImage) -> SharedFrames {
      if let frames = state.withLock({ $0.frames }) { return frames }
      // Read through a copy of the image with an access of its own, to avoid a reference cycle.
      let bare = image.charged(to: budget)
      return state.withLock { state in
        if let frames = state.frames { return frames }
        let checkpoints = state.store(for: image, budget)
        let frames = SharedFrames(
          frames: image.frames, canvasSize: image.canvasSize, playCount: image.playCount,
          keeping: 0,
          resting: RestingCost(in: budget, ofReader: checkpoints.canvasCost)
        ) { [weak self] () throws(AnimatedImageError) in
          let reader = SeekingReader(bare, store: checkpoints)
          reader.shownCanvas = { [weak self] range in
            self?.shownFrames?.last(in: range, of: bare.frames)
          }
          return reader
        }
        state.frames = frames
        return frames
      }
    }
  }
}
