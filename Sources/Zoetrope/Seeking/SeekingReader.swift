/// Reads composited frames in any order on the calling thread, decoding few frames per request.
///
/// Reading forward, it is a ``FrameReader`` that records checkpoints. A jump starts at the nearest
/// checkpoint or independent frame. Stepping back replays a range once and keeps what its frames
/// changed, so that the next steps back decode nothing: about one decoded frame per step, as when
/// reading forward. Not `Sendable`.
public final class SeekingReader {
  let reader: FrameReader
  private let store: CheckpointStore
  /// Finds the last frame of a range whose picture is at hand and is drawn on by the next frame, so
  /// that a replay may start from it. Default: none.
  package var shownCanvas: @Sendable (Range<Int>) -> (index: Int, canvas: Bitmap)? = { _ in nil }
  private let trail: ChargedTrail
  /// Steps back up to this many frames apart are assumed to continue; farther ones are jumps.
  private static let longestStep = 8
  /// Whether checkpoints are recorded.
  private var keepsCheckpoints: Bool
  /// Whether the caller already has the frames between the last and the next one and continues in
  /// order. Then one canvas is kept for the next time: that of the requested frame.
  var isFollowingOrder = false
  /// The frame whose canvas is kept even if no others are; -1 for none.
  private var keptTarget = -1
  /// The last frame returned; -1 before the first.
  private var lastIndex = -1
  /// Whether a checkpoint shares the canvas, which must then be copied before drawing.
  private var sharesCanvas = false
  /// Frames decoded so far, replays included.
  public private(set) var decodedCount = 0

  /// Creates a reader of `image` that shares the checkpoints of its random access (see
  /// ``AnimatedImage/bitmap(at:rendering:cache:)``). Decodes nothing yet.
  public convenience init(_ image: AnimatedImage) {
    self.init(image, store: image.access.checkpoints(of: image))
  }

  /// A reader of `image`, with checkpoints in `store`.
  ///
  /// - Parameter keepsCheckpoints: false for a player, which may only ever loop: it records none
  ///   until the first seek.
  package init(_ image: AnimatedImage, store: CheckpointStore, keepsCheckpoints: Bool = true) {
    self.keepsCheckpoints = keepsCheckpoints
    reader = FrameReader(image)
    self.store = store
    trail = ChargedTrail(image, store: store)
  }

  /// The image.
  public var image: AnimatedImage { reader.image }

  /// Returns frame `index`, composited.
  ///
  /// Its dirty rectangle is relative to the previous call's frame if that is `index` - 1, else the
  /// whole canvas.
  ///
  /// - Throws: the errors of ``FrameReader/frame(at:)``.
  public func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame {
    try frame(at: index) { false }
  }

  /// Like ``frame(at:)``, but throws `cancelled` between frames once `isCancelled` returns true.
  public func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    guard image.frames.indices.contains(index) else {
      throw AnimatedImageError(
        .parameter, "no frame \(index), there are \(image.frames.count)", format: image.format)
    }
    let previous = lastIndex
    if index < previous, !trail.isEmpty,
      let frame = try trail.withTrail({ trail throws(AnimatedImageError) in
        try trail.step(backTo: index)
      })
    {
      lastIndex = index
      return frame
    }
    // Frame 0 needs no replay: a short loop that starts over is not stepping back.
    let isBackward = index > 0 && index < previous && previous - index <= Self.longestStep
    if !isBackward, !trail.isEmpty { try trail.withTrail { $0.removeAll() } }
    try seek(to: index, isBackward: isBackward, isCancelled)
    let frame = try drawNext(isCancelled)
    if isBackward { try trail.withTrail { $0.arrive(at: frame) } }
    guard frame.index == index else {
      throw AnimatedImageError(.parameter, "no frame \(index)", format: image.format)
    }
    lastIndex = index
    return index == previous + 1 ? frame : frame.allDirty
  }

  /// Moves the reader so that its next frame is `index`.
  private func seek(
    to index: Int, isBackward: Bool, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    let current = reader.nextIndex
    // Decode ahead only for sequential reading.
    reader.limitDecodingAhead(to: index == lastIndex + 1 ? nil : index)
    if index == current { return }
    var start = store.start(for: index)
    if start.index != index, isFollowingOrder {
      keptTarget = index
    } else if start.index != index {
      keepsCheckpoints = true
    }
    if !trail.isEmpty, let kept = try trail.withTrail({ $0.start(for: index) }),
      kept.index > start.index
    {
      start = kept
    }
    let reached = max(start.index, current <= index ? current : 0)
    if reached + 1 < index, let found = shownCanvas(reached..<index) {
      start = (found.index + 1, found.canvas)
    }
    if isBackward { start = try earlier(than: start, for: index) }
    if current > index || start.index > current { try restart(at: start) }
    if isBackward {
      let (stretch, capacity) = (reader.nextIndex..<index, store.trailCapacity)
      try trail.withTrail { $0.begin(stretch, capacity: capacity) }
    }
    while reader.nextIndex < index {
      if isCancelled() { throw AnimatedImageError(.cancelled, "between frames") }
      let next = reader.nextIndex
      if isBackward, try trail.withTrail({ $0.wantsCanvas(at: next) }) {
        let canvas = try reader.snapshot().canvas
        try trail.withTrail { $0.keepCanvas(canvas, at: next) }
      }
      let frame = try drawNext(isCancelled)
      if isBackward {
        try trail.withTrail { trail throws(AnimatedImageError) in try trail.keep(frame) }
      }
    }
  }

  /// Moves the start of a backward replay further back than `start` while that is cheap and its
  /// patches fit, so that the range is worth the two canvas copies that stepping back through it
  /// takes.
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

  private func restart(
    at start: (index: Int, canvas: Bitmap?)
  ) throws(AnimatedImageError) {
    sharesCanvas = start.canvas != nil
    try reader.restart(at: start.index, on: start.canvas)
  }

  /// Draws the reader's next frame and measures it. First offers its canvas to the store.
  private func drawNext(
    _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    if keepsCheckpoints || reader.nextIndex == keptTarget,
      try store.offer(
        reader.nextIndex, { () throws(AnimatedImageError) in try reader.snapshot().canvas })
    {
      sharesCanvas = true
    }
    let begin = ContinuousClock.now
    guard let frame = try reader.next(isCancelled: isCancelled) else {
      throw AnimatedImageError(.parameter, "no frame \(reader.nextIndex)", format: image.format)
    }
    decodedCount += 1
    // If a checkpoint shares the canvas, the time is mostly that of copying it.
    if !sharesCanvas { store.record(begin.duration(to: .now), of: frame.index) }
    sharesCanvas = false
    return frame
  }
}

extension CheckpointStore {
  /// An empty store for `image`.
  package convenience init(
    for image: AnimatedImage, budget: MemoryBudget = .shared,
    byteLimit: Int = CheckpointStore.defaultByteLimit, isMeasuring: Bool = true
  ) {
    self.init(
      frames: image.frames, canvasSize: image.canvasSize, format: image.options.canvasFormat,
      budget: budget, byteLimit: byteLimit, isMeasuring: isMeasuring)
  }
}

extension CompositedFrame {
  /// The same frame with everything dirty.
  var allDirty: CompositedFrame {
    CompositedFrame(
      index: index, bitmap: bitmap, dirtyRect: PixelRect(bitmap.size), damage: damage)
  }
}
