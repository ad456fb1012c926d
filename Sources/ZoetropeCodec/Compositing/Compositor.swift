/// Draws frames onto the canvas in order. Before each frame, disposes of the previous one.
///
/// Follows GIF89a section 23.c as interpreted by browsers, and PNG 3rd edition 11.3.6.2. No I/O, no C.
package struct Compositor: ~Copyable {
  package private(set) var canvas: Canvas
  private var disposal = DisposalMethod.keep
  private var disposalRect = PixelRect.empty
  private var saved: SavedRect?
  /// The area changed by disposals since the last drawn frame, which the next drawn frame reports as dirty.
  private var disposedRect = PixelRect.empty
  private var isFirst = true
  /// Whether the canvas must be cleared before the next frame, unless that frame replaces all of it.
  private var awaitsClearing = false

  /// Creates a compositor with an empty canvas, which takes no memory.
  package init() { canvas = Canvas() }

  /// Creates a compositor with a transparent canvas.
  ///
  /// - Parameter byteCount: The minimum size of the canvas's block. See ``Canvas``.
  /// - Throws: `outOfMemory` if allocation fails. Methods that may have to copy the canvas throw it
  ///   too.
  package init(
    size: PixelSize, format: PixelFormat, byteCount: Int = 0
  ) throws(AnimatedImageError) {
    canvas = try Canvas(size: size, format: format, byteCount: byteCount)
  }

  /// Returns to the start of a play, with a transparent canvas.
  package mutating func reset() {
    awaitsClearing = true
    forgetDisposal()
    isFirst = true
  }

  /// Resumes from `bitmap`, which shows the canvas just before the next frame, after all disposals.
  /// The next frame reports the whole canvas as dirty.
  package mutating func resume(from bitmap: Bitmap) {
    canvas = Canvas(bitmap)
    awaitsClearing = false
    forgetDisposal()
    isFirst = true
  }

  /// Releases the memory kept for the next frames.
  package func rest() { canvas.rest() }

  /// Marks the whole canvas dirty, because the next frame's consumer has not seen the previous
  /// frame.
  package mutating func markAllDirty() { isFirst = true }

  /// Disposes of the last frame and returns the canvas, ready for the next frame.
  package mutating func disposedCanvas() throws(AnimatedImageError) -> Bitmap {
    try dispose()
    try clearIfAwaited()
    return canvas.bitmap
  }

  /// Disposes of the last frame and draws the next one.
  ///
  /// - Returns: The area in which the canvas may differ from the previous frame, including the
  ///   disposal. The whole canvas for the first frame.
  package mutating func draw(
    _ pixels: FramePixels, _ control: FrameControl
  ) throws(AnimatedImageError) -> PixelRect {
    let rect = control.rect.intersection(canvas.bounds)
    // Allocate first: if it fails, nothing has changed and the same frame can be drawn again.
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
