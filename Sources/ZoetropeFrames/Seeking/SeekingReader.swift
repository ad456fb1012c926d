/// A reader that returns composited frames in any order on the calling thread, and decodes few frames per request.
///
/// When frames are requested in order, the reader decodes them in sequence and records checkpoints. A jump starts at
/// the nearest checkpoint or independent frame. The first step back replays a range of frames and keeps what these
/// frames changed, so the next steps back decode nothing. On average, a step back decodes about one frame, like a step
/// forward. A reader is not `Sendable`.
public final class SeekingReader {
  private let origin: any ImageOrigin
  private let role: ReaderRole
  /// The reader that decodes frames in sequence, or nil before the first frame.
  private var reader: (any FrameReading)?
  /// Whether ``reader`` was created while further frames could still arrive.
  private var isGrowing = false
  private let store: CheckpointStore
  /// Searches a range of frames for the last one after which a replay can continue. The picture of that frame must be
  /// available, and the next frame must be drawn directly onto that picture. Returns nil if there is no such frame.
  /// Default: a closure that returns nil.
  var shownCanvas: @Sendable (Range<Int>) -> (index: Int, canvas: Bitmap)? = { _ in nil }
  private let trail: ChargedTrail
  /// The longest backward move, in frames, that counts as a step back, after which further steps are expected. A longer
  /// backward move is a jump.
  private static let longestStep = 8
  /// Whether the reader offers the store a checkpoint for every frame that it draws.
  private var keepsCheckpoints: Bool
  /// Whether the caller goes through the frames in order, skipping only frames that it already has. If the reader jumps
  /// because of such a skip, it then keeps only one canvas, that of the requested frame, for the next jump to that
  /// frame.
  package var isFollowingOrder = false
  /// Whether frames are read only once and in order, which makes checkpoints useless.
  var isOnePass = false
  /// The index of the frame whose canvas is kept even if no other checkpoints are kept, or -1 if there is no such
  /// frame.
  private var keptTarget = -1
  /// The index of the frame that was returned last, or -1 before the first frame.
  private var lastIndex = -1
  /// Whether a checkpoint shares the memory of the canvas, which must then be copied before the next frame is drawn.
  private var sharesCanvas = false
  /// The number of frames decoded so far, including those decoded for replays.
  package private(set) var decodedCount = 0

  var lastWanted: Int?

  /// Creates a reader of `image` that shares the checkpoints of random access to the image (see
  /// ``AnimationSource/bitmap(at:rendering:cache:)``). Nothing is decoded yet.
  public convenience init(_ image: AnimatedImage) {
    self.init(image, keepsCheckpoints: true)
  }

  /// Creates a reader of `origin`.
  ///
  /// - Parameters:
  ///   - store: The store for checkpoints. Default: nil, which selects the store that random access to the image uses.
  ///   - keepsCheckpoints: Whether the reader records checkpoints from the start. False for a player: because it may
  ///     only ever loop, it records no checkpoints until the first seek. Default: true.
  ///   - role: The purpose of the reader.
  package init(
    _ origin: any ImageOrigin, store: CheckpointStore? = nil, keepsCheckpoints: Bool = true,
    for role: ReaderRole = .reading
  ) {
    self.origin = origin
    self.role = role
    self.keepsCheckpoints = keepsCheckpoints
    let store = store ?? origin.state.checkpoints(of: origin)
    self.store = store
    trail = ChargedTrail(origin, store: store)
  }

  /// Returns frame `index`, composited.
  ///
  /// If the previous call returned frame `index` - 1, the dirty rectangle of the result is relative to that frame.
  /// Otherwise the dirty rectangle is the whole canvas.
  ///
  /// - Parameters:
  ///   - index: The index of the frame, from 0.
  ///   - isCancelled: A closure that is called between frames and returns whether to stop. Default: a closure that
  ///     returns false.
  /// - Throws: The errors of ``FrameReader/frame(at:isCancelled:)``.
  public func frame(
    at index: Int, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> CompositedFrame {
    let reader = try reader(knowing: index)
    let previous = lastIndex
    if index < previous, !trail.isEmpty,
      let frame = try trail.withTrail({ trail throws(AnimatedImageError) in
        try trail.step(backTo: index)
      })
    {
      lastIndex = index
      return frame
    }
    // Frame 0 needs no replay, so a short loop that starts over does not count as stepping back.
    let isBackward = index > 0 && index < previous && previous - index <= Self.longestStep
    // Which bytes a further step back needs becomes known only during the replay, so these bytes cannot be fetched in
    // advance.
    let leavesTrail = isBackward && !origin.isFetched
    if !leavesTrail, !trail.isEmpty { try trail.withTrail { $0.removeAll() } }
    let frame = try draw(index, leavesTrail: leavesTrail, with: reader, isCancelled)
    lastIndex = index
    return index == previous + 1 ? frame : frame.allDirty
  }

  /// Returns a closure that fetches bytes that frame `index` needs. Returns nil if all of these bytes are available, or
  /// if the frame does not exist.
  package func fetch(for index: Int) -> FrameFetch? {
    guard origin.isFetched, let reader = try? reader(knowing: index) else { return nil }
    let current = reader.nextIndex
    var start = current
    if index != current {
      let found = shownStart(store.start(for: index), for: index, from: current).index
      if current > index || found > current { start = found }
    }
    return reader.fetch(for: start...index)
  }

  /// Releases the memory that is reserved for the next frames.
  package func rest() { reader?.rest() }

  /// Returns the canvas for the frame that follows the frame returned last.
  func canvas() throws(AnimatedImageError) -> Bitmap {
    try reader(knowing: max(lastIndex, 0)).canvas()
  }

  // MARK: - The sequential reader

  /// Returns the sequential reader, after making sure that it knows frame `index`. The reader is created if there is
  /// none.
  ///
  /// - Throws: `parameter` if the frame does not exist.
  private func reader(knowing index: Int) throws(AnimatedImageError) -> any FrameReading {
    guard index >= 0 else { throw unknownFrame(index) }
    let reader: any FrameReading
    if let made = self.reader { reader = made } else { reader = try makeReader() }
    if index >= reader.frameCount, isGrowing, let arrivals = origin.arrivals {
      reader.append(arrivals.arrival(after: reader.frameCount).frames)
      try takeNote(of: arrivals)
    }
    guard index < reader.frameCount else { throw unknownFrame(index) }
    return reader
  }

  private func unknownFrame(_ index: Int) -> AnimatedImageError {
    AnimatedImageError.noFrame(index, of: origin.frameCount, format: origin.format)
  }

  /// Whether further frames may arrive.
  private var mayGrow: Bool { origin.arrivals?.arrival(after: .max).isOpen ?? false }

  private func makeReader() throws(AnimatedImageError) -> any FrameReading {
    isGrowing = mayGrow
    let made = try origin.makeReader(for: isGrowing ? .growing : role)
    reader = made
    if let arrivals = origin.arrivals { try takeNote(of: arrivals) }
    return made
  }

  /// Adds the frames that have arrived to the checkpoint store and to the trail. Call this method after the frames were
  /// added to the reader.
  private func takeNote(of arrivals: any FrameArrivals) throws(AnimatedImageError) {
    store.grow(with: arrivals)
    try trail.withTrail { $0.frames += arrivals.arrival(after: $0.frames.count).frames }
  }

  /// Returns a starting point after `start` if the picture of the frame before that point is available, otherwise
  /// `start`.
  private func shownStart(
    _ start: (index: Int, canvas: Bitmap?), for index: Int, from current: Int
  ) -> (index: Int, canvas: Bitmap?) {
    let reached = max(start.index, current <= index ? current : 0)
    guard reached + 1 < index, let found = shownCanvas(reached..<index) else { return start }
    return (found.index + 1, found.canvas)
  }

  /// Draws frame `index`, after drawing the frames that it depends on, and returns it.
  private func draw(
    _ index: Int, leavesTrail: Bool, with reader: any FrameReading, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    var reader = reader
    let current = reader.nextIndex
    // Frames beyond this one are decoded ahead only if frames are read in sequence.
    reader.limitDecodingAhead(to: index == lastIndex + 1 ? lastWanted : index)
    if index != current {
      var start = store.start(for: index)
      if start.index != index, isFollowingOrder {
        keptTarget = index
      } else if start.index != index, !isOnePass {
        keepsCheckpoints = true
      }
      if !trail.isEmpty, let kept = try trail.withTrail({ $0.start(for: index) }),
        kept.index > start.index
      {
        start = kept
      }
      start = shownStart(start, for: index, from: current)
      if leavesTrail { start = try earlier(than: start, for: index) }
      if current > index || start.index > current {
        if isGrowing, !mayGrow {
          // The list of frames is complete now, so a new reader may use as many processors as the role allows.
          reader = try makeReader()
          guard index < reader.frameCount else { throw unknownFrame(index) }
          reader.limitDecodingAhead(to: index)
        }
        sharesCanvas = start.canvas != nil
        try reader.restart(at: start.index, on: start.canvas)
      }
      if leavesTrail {
        let (stretch, capacity) = (reader.nextIndex..<index, store.trailCapacity)
        try trail.withTrail { $0.begin(stretch, capacity: capacity) }
      }
      while reader.nextIndex < index {
        if isCancelled() { throw AnimatedImageError(.cancelled, "stopped between frames") }
        let next = reader.nextIndex
        if leavesTrail, try trail.withTrail({ $0.wantsCanvas(at: next) }) {
          let canvas = try reader.canvas()
          try trail.withTrail { $0.keepCanvas(canvas, at: next) }
        }
        let frame = try drawNext(with: reader, isCancelled)
        if leavesTrail {
          try trail.withTrail { trail throws(AnimatedImageError) in try trail.keep(frame) }
        }
      }
    }
    let frame = try drawNext(with: reader, isCancelled)
    if leavesTrail { try trail.withTrail { $0.arrive(at: frame) } }
    return frame
  }

  /// Returns the start of the replay for a step back: the earliest starting point, at or before `start`, from which the
  /// replay is still short and its patches fit. A longer range better justifies the two canvas copies that stepping
  /// back through the range takes.
  private func earlier(
    than start: (index: Int, canvas: Bitmap?), for index: Int
  ) throws(AnimatedImageError) -> (index: Int, canvas: Bitmap?) {
    var start = start
    let capacity = store.trailCapacity
    while start.index > 0, start.index < index {
      let earlier = store.start(for: start.index - 1)
      let stretch = earlier.index..<index
      guard store.isShort(stretch), try trail.withTrail({ $0.fits(stretch, capacity: capacity) })
      else { break }
      start = earlier
    }
    return start
  }

  /// Draws the next frame of `reader`, records the time that drawing took, and returns the frame. If a checkpoint may
  /// be kept for the frame, the canvas on which the frame is drawn is first offered to the store.
  private func drawNext(
    with reader: any FrameReading, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    if keepsCheckpoints || reader.nextIndex == keptTarget,
      try store.offer(
        reader.nextIndex, { () throws(AnimatedImageError) in try reader.canvas() })
    {
      sharesCanvas = true
    }
    let begin = ContinuousClock.now
    guard let frame = try reader.next(isCancelled: isCancelled) else {
      throw unknownFrame(reader.nextIndex)
    }
    decodedCount += 1
    // If a checkpoint shares the canvas, most of the time is spent on copying the canvas, so the time is not recorded.
    if !sharesCanvas { store.record(begin.duration(to: .now), of: frame.index) }
    sharesCanvas = false
    return frame
  }
}

extension CheckpointStore {
  /// Creates an empty store for `image`.
  package convenience init(
    for image: some ImageOrigin, budget: MemoryBudget = .shared,
    byteLimit: Int = CheckpointStore.defaultByteLimit, isMeasuring: Bool = true
  ) {
    self.init(
      frames: image.frames, canvasSize: image.canvasSize, format: image.options.canvasFormat,
      budget: budget, byteLimit: byteLimit, isMeasuring: isMeasuring)
  }
}

extension CompositedFrame {
  /// The same frame with the whole canvas as its dirty rectangle.
  var allDirty: CompositedFrame {
    CompositedFrame(index: index, bitmap: bitmap, damage: damage)
  }
}

extension SeekingReader: FrameProducing {}
