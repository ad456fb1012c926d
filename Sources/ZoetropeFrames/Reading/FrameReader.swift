/// A reader of the composited frames of one image, which it decodes on the calling thread.
///
/// A reader is not `Sendable`. Decoding happens in ``next()`` and ``frame(at:isCancelled:)``. With a parallelism above
/// one, other threads decode later frames at the same time.
public final class FrameReader {
  /// The index of the frame that the next call of ``next()`` returns.
  package private(set) var nextIndex = 0
  /// The image that is read.
  package private(set) var image: AnimatedImage
  /// The compositor, whose canvas has no pixels until the first frame is drawn.
  private var compositor = Compositor()
  private var decoder: FrameDecoder
  private var pixels: FramePixels
  /// The placeholder that replaces ``pixels`` after they have been recycled.
  private let noPixels: FramePixels
  /// The damage found in the frame that was drawn last.
  private var damage: Damage?
  /// Whether the canvas must be cleared, or created if there is none, before the next frame is drawn.
  private var needsClearCanvas = true
  /// Whether the canvas was cleared because the next frame is independent. If that frame turns out to be damaged, the
  /// earlier frames are needed after all.
  private var isAssumedClear = false
  /// The pixels of the only frame, if opening the image had to decode that frame and they have not been used yet. Nil
  /// after the first request for a frame.
  private var openingFrame: OpeningFrame?
  /// The object that decodes frames ahead, or nil if frames are decoded sequentially on the calling thread.
  private let ahead: DecodeAhead?

  /// Creates a reader at the start of `image`. Nothing is decoded yet.
  public convenience init(_ image: AnimatedImage) {
    self.init(image, sharingAbove: Self.worthwhilePixels)
  }

  /// The number of pixels above which decoding takes about a millisecond or more, so that it is worthwhile to start
  /// threads.
  private static let worthwhilePixels = 1 << 18

  /// Creates a reader at the start of `image`.
  ///
  /// - Parameter threshold: Frames are decoded on several threads if all frames together have more pixels than this
  ///   number.
  package convenience init(_ image: AnimatedImage, sharingAbove threshold: Int) {
    self.init(image, sharingAbove: threshold, memory: .shared)
  }

  /// Creates a reader at the start of `image`.
  ///
  /// - Parameter memory: The account to which frames decoded ahead are charged.
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

  /// Returns the next frame, composited, or nil after the last frame.
  ///
  /// The bitmap shares the memory of the reader's canvas. If you release the bitmap before the next call, nothing is
  /// copied.
  ///
  /// - Throws: With ``DamagePolicy/strict``, an error for a damaged frame; `io` if the file cannot be read;
  ///   `outOfMemory` if the canvas or the frame cannot be allocated. After an error, the next call decodes the same
  ///   frame again.
  public func next() throws(AnimatedImageError) -> CompositedFrame? { try next { false } }

  /// Returns the next frame like ``next()``. If other frames must be decoded first, this method throws `cancelled` once
  /// `isCancelled` returns true.
  package func next(isCancelled: () -> Bool) throws(AnimatedImageError) -> CompositedFrame? {
    guard nextIndex < image.frames.count else { return nil }
    return try composeNext(isCancelled)
  }

  /// Returns the next frame like ``next(isCancelled:)``. There must be a next frame.
  private func composeNext(
    _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    let index = nextIndex
    let dirty = try drawNext(isCancelled)
    return CompositedFrame(
      index: index, bitmap: compositor.canvas.bitmap, dirtyRect: dirty, damage: damage)
  }

  /// Draws the next frame onto the canvas, and returns the dirty rectangle.
  @discardableResult
  private func drawNext(_ isCancelled: () -> Bool) throws(AnimatedImageError) -> PixelRect {
    let control = image.frames[nextIndex]
    do throws(AnimatedImageError) {
      try clearCanvas()
      try decode(control)
      if isAssumedClear, !isComplete(control) {
        // The canvas shows through a damaged frame. The earlier frames are therefore drawn first, and then this frame
        // is decoded again.
        try replay(before: control.index, isCancelled)
        try clearCanvas()
        try decode(control)
      }
      try pixels.refuse(under: image.options.damage, format: image.format)
      let dirty = try compositor.draw(pixels, control)
      damage = pixels.damage
      if let ahead {
        // The pixels are recycled immediately, so that their memory is reused while it is in the CPU caches.
        ahead.recycle(pixels)
        pixels = noPixels
      }
      isAssumedClear = false
      nextIndex += 1
      return dirty
    } catch {
      resume(at: control.index)
      // The byte source does not know which frame its bytes belong to, so the index of the frame is added here.
      throw error.code == .io ? error.inFrame(control.index) : error
    }
  }

  /// Returns whether all pixels of the frame `control`, which was just decoded, are present.
  private func isComplete(_ control: FrameControl) -> Bool {
    pixels.content.validPixels >= control.rect.size.area
  }

  /// Makes the next call decode frame `index` again after an error. Decoding ahead has already passed that frame and is
  /// restarted there. A read that has failed is thereby tried again.
  private func resume(at index: Int) {
    if nextIndex == index {
      ahead?.restart(at: index)
    } else {
      jump(to: index)
    }
  }

  /// Returns frame `index`, composited. After this call, ``next()`` returns the frame after it.
  ///
  /// If `index` is the frame that ``next()`` would return, the call costs one decode. For any other frame, the call
  /// also decodes the frames before it: from the nearest earlier independent frame on or, if that is nearer, from the
  /// reader's position on. After a jump, the ``CompositedFrame/dirtyRect`` is the whole canvas.
  ///
  /// - Parameters:
  ///   - index: The index of the frame, from 0.
  ///   - isCancelled: A closure that is called before each frame is decoded and returns whether to stop. Default: a
  ///     closure that returns false.
  /// - Throws: `parameter` if the frame does not exist; the errors of ``next()``; `cancelled` once `isCancelled`
  ///   returns true. After `cancelled`, the reader stays usable. Its position is then the frame that it has reached,
  ///   so that a second call decodes only the rest.
  public func frame(
    at index: Int, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> CompositedFrame {
    guard image.frames.indices.contains(index) else {
      throw .noFrame(index, of: image.frames.count, format: image.format)
    }
    if index != nextIndex {
      let start = image.frames[...index].lastIndex { $0.isIndependent } ?? 0
      if index < nextIndex || start > nextIndex { jump(to: start) }
      // Also after an error, the caller has not seen the frame before the next one.
      defer { compositor.markAllDirty() }
      while nextIndex < index {
        try check(isCancelled)
        try drawNext(isCancelled)
      }
    }
    try check(isCancelled)
    return try composeNext(isCancelled)
  }

  /// Returns to the first frame and to a transparent canvas, as at the start of each play.
  public func rewind() { jump(to: 0) }

  package func rest() { compositor.rest() }

  package var frameCount: Int { image.frames.count }

  /// Appends frames whose bytes are already in the source of ``image``. The reader must decode frames on the calling
  /// thread only (``DecodingOptions/parallelism`` 1).
  package func append(_ frames: [FrameControl]) {
    precondition(ahead == nil, "frames decoded ahead are fixed in number")
    image.frames.append(contentsOf: frames)
  }

  /// Prevents decoding ahead beyond frame `last`. If `last` is nil, removes the limit.
  package func limitDecodingAhead(to last: Int?) { ahead?.limit(to: last) }

  /// Returns the canvas on which the next frame is drawn.
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

  /// Continues with frame `index` on `canvas`, which was a result of ``canvas()``. If `canvas` is nil, continues on a
  /// clear canvas.
  package func restart(at index: Int, on canvas: Bitmap?) throws(AnimatedImageError) {
    if let canvas { return restore(nextIndex: index, canvas: canvas) }
    guard index > 0 else { return rewind() }
    let clear = try Canvas(size: image.canvasSize, format: image.options.canvasFormat)
    restore(nextIndex: index, canvas: clear.bitmap)
  }

  /// Draws the canvas on which frame `index` is drawn. Drawing starts at the nearest earlier independent frame that is
  /// complete: a damaged independent frame does not suffice, because the canvas shows through it. The search is a loop
  /// rather than a recursion, so that a file cannot control the stack depth.
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
      throw AnimatedImageError(.cancelled, "stopped between frames", format: image.format)
    }
  }

  /// Continues at frame `index` on a clear canvas. The frame must be independent.
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
  /// Returns whether the image has several frames that have more than `limit` pixels in total.
  fileprivate func hasMorePixels(than limit: Int) -> Bool {
    var pixels = 0
    for control in frames {
      pixels += control.rect.size.area
      if pixels > limit { return frames.count > 1 }
    }
    return false
  }
}
