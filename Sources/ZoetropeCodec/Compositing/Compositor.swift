/// Draws frames onto the canvas in order: disposal of the frame before, then the blend.
///
/// GIF89a section 23.c as browsers read it, and PNG 3rd edition 11.3.6.2. No I/O, no C.
package struct Compositor: ~Copyable {
  package private(set) var canvas: Canvas
  private var disposal = DisposalMethod.keep
  private var disposalRect = PixelRect.empty
  private var saved: SavedRect?
  /// What a disposal changed that no drawn frame has reported yet.
  private var disposedRect = PixelRect.empty
  private var isFirst = true
  /// Whether the canvas is to be transparent, unless the next frame replaces all of it.
  private var awaitsClearing = false

  /// On a canvas without pixels, which takes no memory.
  package init() { canvas = Canvas() }

  /// - Parameter byteCount: As of `Canvas`.
  /// - Throws: `limitExceeded`, here and wherever the canvas may have to be copied, when the system has
  ///   no memory for it.
  package init(
    size: PixelSize, format: PixelFormat, byteCount: Int = 0
  ) throws(AnimatedImageError) {
    canvas = try Canvas(size: size, format: format, byteCount: byteCount)
  }

  /// Goes back to the start of a play: the canvas is transparent.
  package mutating func reset() {
    awaitsClearing = true
    forgetDisposal()
    isFirst = true
  }

  /// Starts from `bitmap`, the canvas as it is before the next frame, with all disposals done.
  /// The next frame reports the whole canvas as dirty.
  package mutating func resume(from bitmap: Bitmap) {
    canvas = Canvas(bitmap)
    awaitsClearing = false
    forgetDisposal()
    isFirst = true
  }

  /// Says that whoever takes the next frame has not seen the one before it.
  package mutating func markAllDirty() { isFirst = true }

  /// The canvas with the last frame disposed of: what the next frame is drawn on.
  package mutating func disposedCanvas() throws(AnimatedImageError) -> Bitmap {
    try dispose()
    try clearIfAwaited()
    return canvas.bitmap
  }

  /// Draws a frame.
  ///
  /// - Returns: Where the canvas may differ from before, disposal included; all of it at the start.
  package mutating func draw(
    _ pixels: FramePixels, _ control: FrameControl
  ) throws(AnimatedImageError) -> PixelRect {
    let rect = control.rect.intersection(canvas.bounds)
    // All memory first: without it nothing has happened, and the same frame may be drawn again.
    try dispose()
    let replacesAll =
      rect == canvas.bounds && pixels.validPixels == pixels.width * pixels.height
      && (control.blend == .source || pixels.isOpaque)
    if !replacesAll || control.disposal == .previous { try clearIfAwaited() }
    let covered = control.disposal == .previous ? try canvas.copy(rect) : nil
    if pixels.isInPlace {
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
