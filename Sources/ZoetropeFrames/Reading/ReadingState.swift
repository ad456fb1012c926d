internal import Synchronization

/// The state that is kept between reads of an image: the identity of the image's bytes, checkpoints, and a reader at
/// its last position. All copies of the image share this state.
///
/// Each part is created when it is first needed. Checkpoints and the reader's canvases are charged to the budget and
/// released on demand.
package final class ReadingState: Sendable {
  let ownBudget: MemoryBudget?
  private let contents: Mutex<Contents>

  private struct Contents: Sendable {
    var identity: ContentIdentity?
    var storedIdentity: StoredIdentity?
    var openingFrame: OpeningFrame?
    var checkpoints: CheckpointStore?
    var frames: SharedFrames?
    var shownFrames: ShownFrames?

    mutating func store(for image: some ImageOrigin, _ budget: MemoryBudget) -> CheckpointStore {
      if let checkpoints { return checkpoints }
      let made = CheckpointStore(for: image, budget: budget)
      checkpoints = made
      return made
    }
  }

  /// Creates a state that charges memory to `budget`, or to the shared budget if `budget` is nil. The shared budget
  /// queries the machine's memory when it is created, so it is not created for images that are only inspected.
  package init(budget: MemoryBudget? = nil) {
    ownBudget = budget
    contents = Mutex(Contents())
  }

  /// Creates a state that contains what `other` knows about the image, but no checkpoints or readers.
  init(knowing other: ReadingState, budget: MemoryBudget?) {
    ownBudget = budget
    contents = Mutex(
      other.contents.withLock {
        Contents(
          identity: $0.identity, storedIdentity: $0.storedIdentity, openingFrame: $0.openingFrame)
      })
  }

  package var budget: MemoryBudget { ownBudget ?? .shared }

  /// The identity of the image's bytes, or nil until it has been computed.
  package var identity: ContentIdentity? {
    get { contents.withLock { $0.identity } }
    set { contents.withLock { $0.identity = newValue } }
  }

  /// The identity that a store uses for the image's bytes, together with the secret of the store and the stamp of the
  /// file.
  package typealias StoredIdentity = (
    secret: HashSecret, stamp: FileStamp?, identity: ContentIdentity
  )

  /// The identity that the store queried last uses for the image's bytes, or nil until a store has been queried.
  package var storedIdentity: StoredIdentity? {
    get { contents.withLock { $0.storedIdentity } }
    set { contents.withLock { $0.storedIdentity = newValue } }
  }

  /// The threads on which the image is looked up in a store. If ``storedIdentity`` is known, the lookup is short and
  /// runs on the threads for checks, otherwise on the threads for loads. (If the file was touched or the store is a
  /// different one, the file is hashed once more, also on the threads for checks.)
  package var lookupThreads: DecodeThreads { storedIdentity == nil ? .loading : .checking }

  /// The pixels of the only frame, if opening the image had to decode that frame. Nil after they were used.
  var openingFrame: OpeningFrame? {
    get { contents.withLock { $0.openingFrame } }
    set { contents.withLock { $0.openingFrame = newValue } }
  }

  /// The frames, in the cache that was used last, from which replays can start.
  var shownFrames: ShownFrames? {
    get { contents.withLock { $0.shownFrames } }
    set {
      // The old value is freed after the lock is released, because it may hold the last reference to a cache.
      let old = contents.withLock { contents in
        let old = contents.shownFrames
        contents.shownFrames = newValue
        return old
      }
      _ = consume old
    }
  }

  /// Returns the checkpoints of `image`. This state must be the state of `image`.
  package func checkpoints(of image: some ImageOrigin) -> CheckpointStore {
    contents.withLock { $0.store(for: image, budget) }
  }

  /// Sets the store in which checkpoints are kept. Call this method before the image is read.
  package func useCheckpoints(_ store: CheckpointStore) {
    contents.withLock { $0.checkpoints = store }
  }

  /// Returns the shared frames of `image`, which are read by one reader that keeps its position between requests.
  package func frames(of image: some ImageOrigin) -> SharedFrames {
    if let frames = contents.withLock({ $0.frames }) { return frames }
    // The frames are read through a copy of the image with a state of its own, because this state retains the frames.
    let bare = image.detached()
    return contents.withLock { contents in
      if let frames = contents.frames { return frames }
      let checkpoints = contents.store(for: image, budget)
      let frames = SharedFrames(
        FrameList(bare), canvasSize: bare.canvasSize, keeping: 0,
        resting: RestingCost(in: budget, ofReader: checkpoints.canvasCost)
      ) { [weak self] () throws(AnimatedImageError) in
        let reader = SeekingReader(bare, store: checkpoints)
        reader.shownCanvas = { [weak self] range in
          self?.shownFrames?.last(in: range, of: bare)
        }
        return reader
      }
      contents.frames = frames
      return frames
    }
  }
}
