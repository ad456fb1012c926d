/// Reads the composited frames of one image on the calling thread.
///
/// Not `Sendable`. Decoding happens in ``next()`` and ``frame(at:isCancelled:)``; with a parallelism above one, other
/// threads decode later frames meanwhile.
public final class FrameReader {
  /// The index of the frame that ``next()`` returns.
  package private(set) var nextIndex = 0
  /// The image.
  package private(set) var image: AnimatedImage
  /// The compositor's canvas has no pixels until the first frame is drawn.
  private var compositor = Compositor()
  private var decoder: FrameDecoder
  private var pixels: FramePixels
  /// A placeholder for the pixels of a recycled frame.
  private let noPixels: FramePixels
  /// The damage of the last frame drawn.
  private var damage: Damage?
  /// Whether the next frame begins on a clear canvas, created on demand.
  private var needsClearCanvas = true
  /// Whether the canvas was cleared because the next frame is independent. If it is damaged, earlier frames are needed.
  private var isAssumedClear = false
  /// The side that decoded the pixels that are now the canvas, if a frame became the canvas.
  private var canvasSide = DecodeSide.consumer
  /// The only frame, if opening the image had to decode it and it has not been used; nil after the first
  /// request.
  private var openingFrame: OpeningFrame?
  /// Decodes frames ahead; nil if frames are decoded sequentially on the calling thread.
  private let ahead: DecodeAhead?

  /// Creates a reader at the start of `image`. Decodes nothing yet.
  public convenience init(_ image: AnimatedImage) {
    self.init(image, sharingAbove: Self.worthwhilePixels)
  }

  /// The number of pixels above which decoding takes about a millisecond or more, so that starting threads pays off.
  private static let worthwhilePixels = 1 << 18

  /// - Parameter threshold: Images whose frames have more pixels in total are decoded on threads.
  package convenience init(_ image: AnimatedImage, sharingAbove threshold: Int) {
    self.init(image, sharingAbove: threshold, memory: .shared)
  }

  /// - Parameter memory: The account that frames decoded ahead are charged to.
  init(_ image: AnimatedImage, sharingAbove threshold: Int, memory: DecodeMemory) {
    self.image = image
    decoder = FrameDecoder(header: image.header, options: image.options)
    noPixels = FramePixels()
    pixels = noPixels
    openingFrame = image.state.openingFrame
    let helpers = image.options.threadCount - 1
    ahead =
      helpers > 0 && image.hasMorePixels(than: threshold)
      ? DecodeAhead(
        image.frames, header: image.header, source: image.source, options: image.options,
        helperLimit: helpers, memory: memory) : nil
  }

  deinit { ahead?.stop() }

  /// Returns the next frame, composited; nil after the last one.
  ///
  /// The bitmap shares the reader's canvas. If you release the bitmap before the next call, nothing is copied.
  ///
  /// - Throws: With ``DamagePolicy/strict``, for a damaged frame; `io` if the file cannot be read; `outOfMemory` if
  ///   allocating the canvas or the frame fails. After an error, the next call decodes the same frame again.
  public func next() throws(AnimatedImageError) -> CompositedFrame? { try next { false } }

  /// Like ``next()``, but if other frames must be decoded first, throws `cancelled` once `isCancelled` returns true.
  package func next(isCancelled: () -> Bool) throws(AnimatedImageError) -> CompositedFrame? {
    guard nextIndex < image.frames.count else { return nil }
    return try composeNext(isCancelled)
  }

  /// Like ``next(isCancelled:)``, but requires that frame ``nextIndex`` exists.
  private func composeNext(
    _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    let index = nextIndex
    let dirty = try drawNext(isCancelled)
    return CompositedFrame(
      index: index, bitmap: compositor.canvas.bitmap, dirtyRect: dirty, damage: damage)
  }

  /// Draws the next frame onto the canvas.
  @discardableResult
  private func drawNext(_ isCancelled: () -> Bool) throws(AnimatedImageError) -> PixelRect {
    let control = image.frames[nextIndex]
    do throws(AnimatedImageError) {
      try clearCanvas()
      try decode(control)
      if isAssumedClear, !isComplete(control) {
        // The canvas beneath shows through a damaged frame, so draw that first, then decode the frame again.
        try replay(before: control.index, isCancelled)
        try clearCanvas()
        try decode(control)
      }
      try pixels.refuse(under: image.options.damage, format: image.format)
      let becomesCanvas = pixels.content.isInPlace
      let dirty = try compositor.draw(pixels, control)
      if becomesCanvas { swap(&canvasSide, &pixels.side) }
      damage = pixels.damage
      if let ahead {
        // Recycle the pixels immediately, so that their memory is reused while it is in the CPU caches.
        ahead.recycle(pixels)
        pixels = noPixels
      }
      isAssumedClear = false
      nextIndex += 1
      return dirty
    } catch {
      resume(at: control.index)
      // The byte source does not know the frame, so add its index.
      throw error.code == .io ? error.inFrame(control.index) : error
    }
  }

  /// Returns whether all pixels of the frame just decoded are present.
  private func isComplete(_ control: FrameControl) -> Bool {
    pixels.content.validPixels >= control.rect.size.area
  }

  /// Makes the next call decode frame `index` again after a failure. Decoding ahead is already past that frame and must
  /// restart, and a failed read is retried.
  private func resume(at index: Int) {
    if nextIndex == index {
      ahead?.restart(at: index)
    } else {
      jump(to: index)
    }
  }

  /// Returns frame `index`, composited; ``next()`` continues after it.
  ///
  /// The frame that ``next()`` would return costs one decode, any other a replay from the nearest earlier independent
  /// frame. ``CompositedFrame/dirtyRect`` is the whole canvas after a jump.
  ///
  /// - Parameters:
  ///   - index: The frame, from 0.
  ///   - isCancelled: Called between frames. Default: never cancelled.
  /// - Throws: `parameter` if the frame does not exist; `cancelled` once `isCancelled` returns true, after which the
  ///   reader stays usable and keeps its position; the errors of ``next()``.
  public func frame(
    at index: Int, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> CompositedFrame {
    guard image.frames.indices.contains(index) else {
      throw AnimatedImageError(
        .parameter, "frame \(index) does not exist; there are \(image.frames.count) frames",
        format: image.format)
    }
    if index != nextIndex {
      let start = image.frames[...index].lastIndex { $0.isIndependent } ?? 0
      if index < nextIndex || start > nextIndex { jump(to: start) }
      while nextIndex < index {
        try check(isCancelled)
        try drawNext(isCancelled)
      }
      compositor.markAllDirty()
    }
    return try composeNext(isCancelled)
  }

  /// Returns to the first frame with a transparent canvas, as at the start of each play.
  public func rewind() { jump(to: 0) }

  package func rest() { compositor.rest() }

  package var frameCount: Int { image.frames.count }

  /// Appends frames whose bytes are already in the source of ``image``. The reader must decode on the calling thread
  /// alone (``DecodingOptions/parallelism`` 1).
  package func append(_ frames: [FrameControl]) {
    precondition(ahead == nil, "frames decoded ahead are fixed in number")
    image.frames.append(contentsOf: frames)
  }

  /// Prevents decoding ahead beyond frame `last`; nil removes the limit.
  package func limitDecodingAhead(to last: Int?) { ahead?.limit(to: last) }

  /// Returns the canvas that the next frame is drawn on.
  package func canvas() throws(AnimatedImageError) -> Bitmap {
    try clearCanvas()
    return try compositor.disposedCanvas()
  }

  private func restore(nextIndex: Int, canvas: Bitmap) {
    compositor.resume(from: canvas)
    needsClearCanvas = false
    self.nextIndex = nextIndex
    isAssumedClear =
      nextIndex > 0 && nextIndex < image.frames.count
      && image.frames[nextIndex].isIndependent
    ahead?.restart(at: nextIndex)
  }

  /// Continues with frame `index` on `canvas`, which ``canvas()`` returned; nil means a clear canvas.
  package func restart(at index: Int, on canvas: Bitmap?) throws(AnimatedImageError) {
    if let canvas { return restore(nextIndex: index, canvas: canvas) }
    guard index > 0 else { return rewind() }
    let clear = try Canvas(size: image.canvasSize, format: image.options.canvasFormat)
    restore(nextIndex: index, canvas: clear.bitmap)
  }

  /// Draws the canvas beneath frame `index`, starting at an earlier independent frame that is complete. The canvas
  /// beneath shows through a damaged independent frame, so the search goes on to an earlier one. A loop, not recursion,
  /// so that a file cannot control the stack depth.
  private func replay(
    before index: Int, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    var start = index
    repeat {
      try check(isCancelled)
      start = image.frames[..<start].lastIndex { $0.isIndependent } ?? 0
      jump(to: start)
      if start > 0 { try decode(image.frames[start]) }
    } while start > 0 && !isComplete(image.frames[start])
    jump(to: start)
    isAssumedClear = false
    while nextIndex < index {
      try check(isCancelled)
      try drawNext(isCancelled)
    }
    compositor.markAllDirty()
  }

  private func check(_ isCancelled: () -> Bool) throws(AnimatedImageError) {
    if isCancelled() {
      throw AnimatedImageError(.cancelled, "between frames", format: image.format)
    }
  }

  /// Continues at an independent frame, on a clear canvas.
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
    } else if let decoded = openingFrame.take()?.take() {
      pixels = decoded
    } else {
      try decoder.decode(control, from: image.source, into: pixels)
    }
  }
}

extension FrameReader: FrameReading {}

extension AnimatedImage {
  /// Returns whether there are several frames with more than `limit` pixels in total.
  fileprivate func hasMorePixels(than limit: Int) -> Bool {
    var pixels = 0
    for control in frames {
      pixels += control.rect.size.area
      if pixels > limit { return frames.count > 1 }
    }
    return false
  }
}
