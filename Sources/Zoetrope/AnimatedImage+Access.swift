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
      var storedIdentity: StoredIdentity?
      var openingFrame: OpeningFrame?
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

    /// The identity of the image's bytes in a store, with the store's secret and the file's stamp; nil
    /// until it is known.
    typealias StoredIdentity = (secret: HashSecret, stamp: FileStamp?, identity: ContentIdentity)

    var storedIdentity: StoredIdentity? {
      get { state.withLock { $0.storedIdentity } }
      set { state.withLock { $0.storedIdentity = newValue } }
    }

    /// The pixels of the only frame, if opening had to decode it; nil once taken.
    var openingFrame: OpeningFrame? {
      get { state.withLock { $0.openingFrame } }
      set { state.withLock { $0.openingFrame = newValue } }
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

extension AnimatedImage {
  /// Bytes of memory that the opened image holds, apart from pixels.
  package var residentCost: Int {
    let metadata = metadata
    let texts = metadata.texts.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    let blocks = [metadata.iccProfile?.count, metadata.exif?.count, metadata.xmp?.utf8.count]
    return source.residentByteCount + texts + blocks.reduce(0) { $0 + ($1 ?? 0) }
      + metadata.applicationBlocks.count * MemoryLayout<AnimationMetadata.ApplicationBlock>.stride
      + damage.count * Self.damageCost
      + frames.count * (MemoryLayout<FrameControl>.stride + ReplayCosts.bytesPerFrame)
  }

  /// A deviation with its text.
  private static let damageCost = MemoryLayout<Damage>.stride + 64
}

/// The pixels of a frame that was decoded while its image was opened, for the first reader. Copies of the
/// image share them.
///
/// Charged like frames decoded ahead until they are taken, and not kept if there is no room.
final class OpeningFrame: Sendable {
  private let pixels: Mutex<FramePixels?>
  private let byteCount: Int
  private let memory: DecodeMemory

  /// Nil if `memory` has no room. The caller gives `pixels` away.
  init?(_ pixels: FramePixels, memory: DecodeMemory) {
    byteCount = pixels.storage.byteCount
    guard memory.reserve(byteCount) else { return nil }
    self.memory = memory
    self.pixels = Mutex(pixels)
  }

  deinit { _ = take() }

  /// The pixels, the first time.
  func take() -> FramePixels? {
    pixels.withLock { kept in
      guard let pixels = kept else { return nil }
      kept = nil
      memory.charge(-byteCount)
      return pixels
    }
  }
}
