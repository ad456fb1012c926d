/// Draws frames onto the canvas in order: disposal of the frame before, then the blend.
///
/// GIF89a section 23.c as browsers read it, and PNG 3rd edition 11.3.6.2. No I/O, no C.
package struct Compositor {
  package private(set) var canvas: Canvas
  private var disposal = DisposalMethod.keep
  private var disposalRect = PixelRect.empty
  private var saved: SavedRect?
  /// What a disposal changed that no drawn frame has reported yet.
  private var disposedRect = PixelRect.empty
  private var isFirst = true

  package init(size: PixelSize, format: PixelFormat) {
    canvas = Canvas(size: size, format: format)
  }

  /// Goes back to the start of a play: the canvas is transparent.
  package mutating func reset() {
    canvas.clear(canvas.bounds)
    forgetDisposal()
    isFirst = true
  }

  /// Starts from `bitmap`, the canvas as it is before the next frame, with all disposals done.
  /// The next frame reports the whole canvas as dirty.
  package mutating func resume(from bitmap: Bitmap) {
    canvas = Canvas(bitmap)
    forgetDisposal()
    isFirst = true
  }

  /// Says that whoever takes the next frame has not seen the one before it.
  package mutating func markAllDirty() { isFirst = true }

  /// The canvas with the last frame disposed of: what the next frame is drawn on.
  package mutating func disposedCanvas() -> Bitmap {
    dispose()
    return canvas.bitmap
  }

  /// Draws a frame.
  ///
  /// - Returns: Where the canvas may differ from before, disposal included; all of it at the start.
  package mutating func draw(_ pixels: FramePixels, _ control: FrameControl) -> PixelRect {
    let rect = control.rect.intersection(canvas.bounds)
    dispose()
    disposal = control.disposal
    disposalRect = rect
    if disposal == .previous { saved = canvas.copy(rect) }
    if !rect.isEmpty {
      let replacesAll =
        rect == canvas.bounds && pixels.validPixels == pixels.width * pixels.height
        && (control.blend == .source || pixels.isOpaque)
      canvas.makeUnique(keepsContent: !replacesAll)
      unsafe FrameDrawing.draw(pixels, control, clip: rect, onto: &canvas)
    }
    let dirty = isFirst ? canvas.bounds : disposedRect.union(rect)
    disposedRect = .empty
    isFirst = false
    return dirty
  }

  /// Disposes of the last frame.
  private mutating func dispose() {
    switch disposal {
    case .keep: return
    case .background: canvas.clear(disposalRect)
    case .previous: if let saved { canvas.restore(saved) }
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
