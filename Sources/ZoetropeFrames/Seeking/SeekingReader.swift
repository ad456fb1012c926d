/// Reads composited frames in any order on the calling thread, decoding few frames per request.
///
/// Reading forward, it is a sequential reader that records checkpoints. A jump starts at the nearest checkpoint or
/// independent frame. The first step back replays a range and keeps what its frames changed, so the next steps back
/// decode nothing. On average, a step back decodes about one frame, like a step forward. Not `Sendable`.
public final class SeekingReader {
  private let origin: any ImageOrigin
  private let role: ReaderRole
  /// The sequential reader; nil before the first frame.
  private var reader: (any FrameReading)?
  /// Whether ``reader`` was created while further frames could still arrive.
  private var isGrowing = false
  private let store: CheckpointStore
  /// Finds the last frame of a range from which a replay may start: its picture is available, and the next frame is
  /// drawn onto it. Default: none.
  var shownCanvas: @Sendable (Range<Int>) -> (index: Int, canvas: Bitmap)? = { _ in nil }
  private let trail: ChargedTrail
  /// The farthest backward move that counts as a step back, after which more steps are expected; farther ones are
  /// jumps.
  private static let longestStep = 8
  /// Whether checkpoints are recorded.
  private var keepsCheckpoints: Bool
  /// Whether the caller already has the frames between the last one returned and the requested one, and continues in
  /// order. A jump then keeps only one canvas for the next time, that of the requested frame.
  package var isFollowingOrder = false
  /// Whether frames are read only once, in order, which makes checkpoints useless.
  var isOnePass = false
  /// The frame whose canvas is kept even if no other checkpoints are; -1 for none.
  private var keptTarget = -1
  /// The last frame returned; -1 before the first.
  private var lastIndex = -1
  /// Whether a checkpoint shares the canvas, which must then be copied before drawing.
  private var sharesCanvas = false
  /// Frames decoded so far, replays included.
  package private(set) var decodedCount = 0

  var lastWanted: Int?

  /// Creates a reader of `image` that shares the checkpoints of its random access (see
  /// ``AnimationSource/bitmap(at:rendering:cache:)``). Decodes nothing yet.
  public convenience init(_ image: AnimatedImage) {
    self.init(image, keepsCheckpoints: true)
  }

  /// Creates a reader of `origin`.
  ///
  /// - Parameters:
  ///   - store: The store for checkpoints. Default: nil, the one for the image's random access.
  ///   - keepsCheckpoints: False for a player, which may only ever loop: it records none until the
  ///     first seek.
  ///   - role: The reader's purpose.
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
  /// The frame's dirty rectangle is relative to the frame of the previous call if that was `index` - 1; otherwise it is
  /// the whole canvas.
  ///
  /// - Parameters:
  ///   - index: The frame, from 0.
  ///   - isCancelled: Called between frames. Default: never cancelled.
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
    // The bytes that a further step back needs become known only during the replay, so they cannot be fetched in
    // advance.
    let leavesTrail = isBackward && !origin.isFetched
    if !leavesTrail, !trail.isEmpty { try trail.withTrail { $0.removeAll() } }
    let frame = try draw(index, leavesTrail: leavesTrail, with: reader, isCancelled)
    lastIndex = index
    return index == previous + 1 ? frame : frame.allDirty
  }

  /// Returns a closure that fetches bytes that frame `index` needs; nil if all are available, or if the frame does not
  /// exist.
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

  /// Releases memory reserved for the next frames.
  package func rest() { reader?.rest() }

  /// Returns the canvas on which the frame after the last returned one is drawn.
  func canvas() throws(AnimatedImageError) -> Bitmap {
    try reader(knowing: max(lastIndex, 0)).canvas()
  }

  // MARK: - The sequential reader

  /// Returns the reader, after making sure that it knows frame `index`.
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
    AnimatedImageError(
      .parameter, "frame \(index) does not exist; there are \(origin.frameCount) frames",
      format: origin.format)
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

  /// Adds new frames to the checkpoint store and the trail. Call it after they were added to the reader.
  private func takeNote(of arrivals: any FrameArrivals) throws(AnimatedImageError) {
    store.grow(with: arrivals)
    try trail.withTrail { $0.frames += arrivals.arrival(after: $0.frames.count).frames }
  }

  /// Returns `start`, or a later starting point whose picture is available.
  private func shownStart(
    _ start: (index: Int, canvas: Bitmap?), for index: Int, from current: Int
  ) -> (index: Int, canvas: Bitmap?) {
    let reached = max(start.index, current <= index ? current : 0)
    guard reached + 1 < index, let found = shownCanvas(reached..<index) else { return start }
    return (found.index + 1, found.canvas)
  }

  /// Draws frame `index` after drawing the frames that it needs.
  private func draw(
    _ index: Int, leavesTrail: Bool, with reader: any FrameReading, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    var reader = reader
    let current = reader.nextIndex
    // Decode ahead beyond this frame only when reading sequentially.
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
        if isCancelled() { throw AnimatedImageError(.cancelled, "between frames") }
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

  /// Moves the start of a backward replay further back than `start` as long as that is cheap and the patches fit. The
  /// range should be long enough to justify the two canvas copies that stepping back through it takes.
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

  /// Offers the canvas of the reader's next frame to the store, then draws the frame and measures the time.
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
    // If a checkpoint shares the canvas, most of the time is spent copying it.
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
    CompositedFrame(
      index: index, bitmap: bitmap, dirtyRect: PixelRect(bitmap.size), damage: damage)
  }
}
