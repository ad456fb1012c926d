/// A compositor that draws frames onto a canvas in order, and disposes of each frame before it draws the next.
///
/// Compositing follows section 23.c of GIF89a, as browsers interpret it, and section 11.3.6.2 of the PNG specification
/// (3rd edition). The compositor does no I/O and imports no C module.
package struct Compositor: ~Copyable {
  package private(set) var canvas: Canvas
  private var disposal = DisposalMethod.keep
  private var disposalRect = PixelRect.empty
  private var saved: SavedRect?
  /// The area changed by disposals since the last drawn frame. The dirty rectangle of the next drawn frame includes
  /// this area.
  private var disposedRect = PixelRect.empty
  private var isFirst = true
  /// Whether the canvas must be cleared before the next frame, unless that frame replaces the whole canvas.
  private var awaitsClearing = false

  /// Creates a compositor with an empty canvas, which takes no memory.
  package init() { canvas = Canvas() }

  /// Creates a compositor with a transparent canvas.
  ///
  /// - Parameter byteCount: The minimum size, in bytes, of the canvas's block. See ``Canvas``.
  /// - Throws: `outOfMemory` if allocation fails. The methods that may have to copy the canvas throw this error too.
  package init(
    size: PixelSize, format: PixelFormat, byteCount: Int = 0
  ) throws(AnimatedImageError) {
    canvas = try Canvas(size: size, format: format, byteCount: byteCount)
  }

  /// Begins a new play with a transparent canvas.
  package mutating func reset() {
    awaitsClearing = true
    forgetDisposal()
    isFirst = true
  }

  /// Resumes from `bitmap`, which shows the canvas just before the next frame, after all disposals. For the next frame,
  /// the whole canvas is reported as dirty.
  package mutating func resume(from bitmap: Bitmap) {
    canvas = Canvas(bitmap)
    awaitsClearing = false
    forgetDisposal()
    isFirst = true
  }

  /// Releases the blocks kept for the next frames.
  package func rest() { canvas.rest() }

  /// Makes the next frame report the whole canvas as dirty, because the consumer of that frame has not seen the
  /// previous frame.
  package mutating func markAllDirty() { isFirst = true }

  /// Disposes of the last frame and returns the canvas, ready for the next frame.
  package mutating func disposedCanvas() throws(AnimatedImageError) -> Bitmap {
    try dispose()
    try clearIfAwaited()
    return canvas.bitmap
  }

  /// Disposes of the last frame and draws the next one.
  ///
  /// - Returns: The area in which the canvas may differ from the canvas after the previous frame, including the area of
  ///   the disposal. For the first frame, this is the whole canvas.
  package mutating func draw(
    _ pixels: FramePixels, _ control: FrameControl
  ) throws(AnimatedImageError) -> PixelRect {
    let rect = control.rect.intersection(canvas.bounds)
    // `disposal` and `saved` are set only after the last call that can fail, so that the same frame can be drawn again
    // after a failed allocation.
    try dispose()
    let replacesAll =
      rect == canvas.bounds && pixels.content.isComplete
      && (control.blend == .source || pixels.content.isOpaque)
    if !replacesAll || control.disposal == .previous { try clearIfAwaited() }
    let covered = control.disposal == .previous ? try canvas.copy(rect) : nil
    if pixels.content.isInPlace {
      canvas.adopt(pixels, changing: rect, keepsContent: !replacesAll)
    } else if !rect.isEmpty {
      try canvas.draw(pixels, control, clip: rect, keepsContent: !replacesAll)
    }
    disposal = control.disposal
    disposalRect = rect
    saved = covered
    awaitsClearing = false
    let dirty = isFirst ? canvas.bounds : disposedRect.union(rect)
    disposedRect = .empty
    isFirst = false
    return dirty
  }

  private mutating func clearIfAwaited() throws(AnimatedImageError) {
    if awaitsClearing { try canvas.clear(canvas.bounds) }
    awaitsClearing = false
  }

  /// Disposes of the last frame.
  private mutating func dispose() throws(AnimatedImageError) {
    switch disposal {
    case .keep: return
    case .background: try canvas.clear(disposalRect)
    case .previous: if let saved { try canvas.restore(saved) }
    }
    disposedRect = disposedRect.union(disposalRect)
    forgetDisposal()
  }

  private mutating func forgetDisposal() {
    disposal = .keep
    disposalRect = .empty
    saved = nil
  }
}
