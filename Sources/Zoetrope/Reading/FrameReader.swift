/// Reads the composited frames of one image on the calling thread.
///
/// One owner at a time; not `Sendable`. Work is done inside ``next()`` and ``frame(at:)``: with a
/// parallelism above one, threads of its own decode later frames meanwhile.
public final class FrameReader {
  /// The index of the frame that ``next()`` gives.
  public private(set) var nextIndex = 0
  /// The image that is read.
  public let image: AnimatedImage
  /// On a canvas without pixels until the first frame is drawn.
  private var compositor = Compositor()
  private var decoder: FrameDecoder
  private var pixels: FramePixels
  /// In place of a frame that was given back.
  private let noPixels: FramePixels
  /// What was wrong with the frame drawn last.
  private var damage: Damage?
  /// Whether the next frame begins on a clear canvas, which is made then.
  private var needsClearCanvas = true
  /// Whether the canvas is clear because the next frame should not need what was there before.
  private var isAssumedClear = false
  /// Whose decoder filled the canvas's block, when a frame became the canvas.
  private var canvasSide = DecodeSide.consumer
  /// Nil when frames are decoded one after the other on the calling thread.
  private let ahead: DecodeAhead?

  /// A reader at the start of `image`. Nothing is decoded yet.
  public convenience init(_ image: AnimatedImage) {
    self.init(image, sharingAbove: Self.worthwhilePixels)
  }

  /// Decoding takes long enough that starting threads pays: from about a millisecond.
  private static let worthwhilePixels = 1 << 18

  /// - Parameter threshold: An image whose frames have more pixels in all is decoded on threads.
  package convenience init(_ image: AnimatedImage, sharingAbove threshold: Int) {
    self.init(image, sharingAbove: threshold, memory: .shared)
  }

  /// - Parameter memory: What frames decoded ahead are charged to.
  init(_ image: AnimatedImage, sharingAbove threshold: Int, memory: DecodeMemory) {
    self.image = image
    decoder = FrameDecoder(header: image.header, options: image.options)
    noPixels = FramePixels()
    pixels = noPixels
    let helpers = image.options.threadCount - 1
    ahead =
      helpers > 0 && image.hasMorePixels(than: threshold)
      ? DecodeAhead(
        image.frames, header: image.header, source: image.source, options: image.options,
        helperLimit: helpers, memory: memory) : nil
  }

  deinit { ahead?.stop() }

  /// The next frame, composited; nil after the last one.
  ///
  /// The bitmap shares the reader's canvas. When it is gone before the next call, nothing is copied.
  ///
  /// - Throws: With ``DamagePolicy/strict`` for a damaged frame; `io` when the file cannot be read;
  ///   `limitExceeded` when the system has no memory for the canvas or the frame. ``nextIndex`` is
  ///   then what it was, and the next call decodes the same frame anew.
  public func next() throws(AnimatedImageError) -> CompositedFrame? {
    guard nextIndex < image.frames.count else { return nil }
    return try composeNext()
  }

  /// As ``next()``, of an image that has a frame ``nextIndex``.
  private func composeNext() throws(AnimatedImageError) -> CompositedFrame {
    let index = nextIndex
    let dirty = try drawNext()
    return CompositedFrame(
      index: index, bitmap: compositor.canvas.bitmap, dirtyRect: dirty, damage: damage)
  }

  /// Draws the next frame onto the canvas.
  @discardableResult
  private func drawNext() throws(AnimatedImageError) -> PixelRect {
    let control = image.frames[nextIndex]
    do throws(AnimatedImageError) {
      try clearCanvas()
      try decode(control)
      if isAssumedClear, !isComplete(control) {
        // Damaged, it shows what lies below after all: build that, and take the frame again.
        try replay(before: control.index)
        try clearCanvas()
        try decode(control)
      }
      try pixels.refuse(under: image.options.damage, format: image.format)
      let becomesCanvas = pixels.isInPlace
      let dirty = try compositor.draw(pixels, control)
      if becomesCanvas { swap(&canvasSide, &pixels.side) }
      damage = pixels.damage
      if let ahead {
        // At once, so that it is decoded into while it lies in the cache.
        ahead.recycle(pixels)
        pixels = noPixels
      }
      isAssumedClear = false
      nextIndex += 1
      return dirty
    } catch {
      resume(at: control.index)
      throw error
    }
  }

  /// Whether all pixels of the frame just decoded are there.
  private func isComplete(_ control: FrameControl) -> Bool {
    pixels.validPixels >= control.rect.size.area
  }

  /// Has the next call begin frame `index` again, which could not be decoded: frames decoded ahead
  /// lie behind it by now, and a read that failed once is tried again.
  private func resume(at index: Int) {
    if nextIndex == index {
      ahead?.restart(at: index)
    } else {
      jump(to: index)
    }
  }

  /// Frame `index`, composited; ``next()`` goes on after it.
  ///
  /// Costs one decode when `index` is ``nextIndex``, else a replay from the nearest earlier frame
  /// that is independent. ``CompositedFrame/dirtyRect`` is the whole canvas after a jump.
  ///
  /// - Throws: `parameter` when there is no such frame; as ``next()``.
  public func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame {
    try frame(at: index) { false }
  }

  /// As ``frame(at:)``; throws `cancelled` between frames once `isCancelled` gives true. The reader then
  /// stands at the frame it had come to, and may be used on.
  public func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    guard image.frames.indices.contains(index) else {
      throw AnimatedImageError(
        .parameter, "no frame \(index), there are \(image.frames.count)", format: image.format)
    }
    if index != nextIndex {
      let start = image.frames[...index].lastIndex { $0.isIndependent } ?? 0
      if index < nextIndex || start > nextIndex { jump(to: start) }
      while nextIndex < index {
        if isCancelled() {
          throw AnimatedImageError(.cancelled, "between frames", format: image.format)
        }
        try drawNext()
      }
      compositor.markAllDirty()
    }
    return try composeNext()
  }

  /// Goes back to the first frame; the canvas is transparent again, as at the start of each play.
  public func rewind() { jump(to: 0) }

  /// Has no frame after `last` decoded before it is asked for; nil lifts that.
  package func limitDecodingAhead(to last: Int?) { ahead?.limit(to: last) }

  /// What ``restore(nextIndex:canvas:)`` needs to go on from here.
  package func snapshot() throws(AnimatedImageError) -> (nextIndex: Int, canvas: Bitmap) {
    try clearCanvas()
    return (nextIndex, try compositor.disposedCanvas())
  }

  /// Goes on with frame `nextIndex` on `canvas`, as a snapshot gave them.
  package func restore(nextIndex: Int, canvas: Bitmap) {
    compositor.resume(from: canvas)
    needsClearCanvas = false
    self.nextIndex = nextIndex
    isAssumedClear =
      nextIndex > 0 && nextIndex < image.frames.count
      && image.frames[nextIndex].isIndependent
    ahead?.restart(at: nextIndex)
  }

  /// Draws what frame `index` lies on, from an independent frame before it that is complete: one that
  /// is damaged as well shows what lies below it, and so on. A loop, since a file of such frames
  /// would else decide how deep the stack gets.
  private func replay(before index: Int) throws(AnimatedImageError) {
    var start = index
    repeat {
      start = image.frames[..<start].lastIndex { $0.isIndependent } ?? 0
      jump(to: start)
      if start > 0 { try decode(image.frames[start]) }
    } while start > 0 && !isComplete(image.frames[start])
    jump(to: start)
    isAssumedClear = false
    while nextIndex < index { try drawNext() }
    compositor.markAllDirty()
  }

  /// Starts over at an independent frame.
  private func jump(to index: Int) {
    needsClearCanvas = true
    nextIndex = index
    isAssumedClear = index > 0
    ahead?.restart(at: index)
  }

  private func clearCanvas() throws(AnimatedImageError) {
    guard needsClearCanvas else { return }
    if compositor.canvas.size == image.canvasSize {
      compositor.reset()
    } else {
      compositor = try Compositor(
        size: image.canvasSize, format: image.options.canvasFormat,
        byteCount: ahead?.canvasByteCount ?? 0)
    }
    needsClearCanvas = false
  }

  private func decode(_ control: FrameControl) throws(AnimatedImageError) {
    if let ahead {
      pixels = try ahead.take(nextIndex, with: &decoder)
    } else {
      try decoder.decode(control, from: image.source, into: pixels)
    }
  }
}

extension AnimatedImage {
  /// Whether there are several frames, with more than `limit` pixels in all.
  fileprivate func hasMorePixels(than limit: Int) -> Bool {
    var pixels = 0
    for control in frames {
      pixels += control.rect.size.area
      if pixels > limit { return frames.count > 1 }
    }
    return false
  }
}

extension DecodeMemory {
  /// That of the process: half of what caches may take.
  static let shared = DecodeMemory(byteLimit: MemoryBudget.defaultByteLimit / 2)
}
