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
      try canvas.makeUnique(changing: rect, keepsContent: !replacesAll)
      unsafe canvas.draw(pixels, control, clip: rect)
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

extension Canvas {
  /// Draws the valid pixels of `pixels` that lie in `clip`.
  ///
  /// Unsafe: reads `pixels.storage` within `height * bytesPerRow` bytes from its offset, which the
  /// decoder reserved, and writes canvas rows within `clip`, which lies on the canvas.
  ///
  /// - Precondition: the canvas is unique, and `clip` lies within it and within the frame's rect.
  @unsafe fileprivate mutating func draw(
    _ pixels: FramePixels, _ control: FrameControl, clip: PixelRect
  ) {
    guard pixels.width > 0 else { return }
    if pixels.hasBinaryAlpha, format == .rgba8 {
      unsafe drawIndexed(pixels, control.rect, clip)
      return
    }
    let isSource = control.blend == .source || pixels.isOpaque
    let source = unsafe UnsafeRawPointer(pixels.storage.baseAddress) + pixels.offset
    let isDeep = format == .rgba16
    unsafe pixels.palette.withUnsafeBufferPointer { palette in
      guard let colors = palette.baseAddress else { return }
      unsafe forEachRow(pixels, control.rect, clip) { offset, target, count in
        let row = unsafe source + offset
        if isDeep {
          let target = unsafe target.assumingMemoryBound(to: SIMD4<UInt16>.self)
          unsafe isSource
            ? RowExpander.writeDeep(
              pixels.layout, from: row, to: target, count: count, palette: colors)
            : RowBlender.overDeep(
              pixels.layout, from: row, to: target, count: count, palette: colors)
        } else {
          let target = unsafe target.assumingMemoryBound(to: UInt32.self)
          unsafe isSource
            ? RowExpander.write(
              pixels.layout, from: row, to: target, count: count, palette: colors)
            : RowBlender.over(
              pixels.layout, from: row, to: target, count: count, palette: colors)
        }
      }
    }
  }

  /// GIF frames: a whole frame in one call where its rows lie in order, else row by row.
  @unsafe private mutating func drawIndexed(
    _ pixels: FramePixels, _ rect: PixelRect, _ clip: PixelRect
  ) {
    let source = unsafe UnsafeRawPointer(pixels.storage.baseAddress) + pixels.offset
    let isWhole = pixels.validPixels == pixels.width * pixels.height && !pixels.isInterlaced
    unsafe pixels.palette.withUnsafeBufferPointer { palette in
      guard let colors = palette.baseAddress else { return }
      if isWhole {
        let first = (clip.y - rect.y) * pixels.bytesPerRow + clip.x - rect.x
        unsafe IndexedBlitter.draw(
          indices: (source + first).assumingMemoryBound(to: UInt8.self),
          indexStride: pixels.bytesPerRow, width: clip.width, height: clip.height,
          palette: colors, transparent: pixels.transparentIndex,
          into: row(clip.y).assumingMemoryBound(to: UInt32.self) + clip.x,
          canvasStride: bytesPerRow / 4)
        return
      }
      unsafe forEachRow(pixels, rect, clip) { offset, target, count in
        unsafe IndexedBlitter.over(
          indices: (source + offset).assumingMemoryBound(to: UInt8.self), count: count,
          palette: colors, transparent: pixels.transparentIndex,
          into: target.assumingMemoryBound(to: UInt32.self))
      }
    }
  }

  /// Calls `body` for each row of the frame that shows in `clip`, with the byte offset of its first
  /// shown sample, where it goes on the canvas, and how many pixels are valid there.
  @unsafe private mutating func forEachRow(
    _ pixels: FramePixels, _ rect: PixelRect, _ clip: PixelRect,
    _ body: (Int, UnsafeMutableRawPointer, Int) -> Void
  ) {
    let firstColumn = clip.x - rect.x
    let skipped = firstColumn * pixels.layout.bytesPerPixel
    let completeRows = pixels.validPixels / pixels.width
    let partial = pixels.validPixels % pixels.width
    for stored in 0..<min(completeRows + (partial > 0 ? 1 : 0), pixels.height) {
      let shown =
        pixels.isInterlaced ? GIFInterlace.row(stored, height: pixels.height) : stored
      let y = rect.y + shown
      guard y >= clip.y, y < clip.maxY else { continue }
      let valid = stored < completeRows ? pixels.width : partial
      let count = min(clip.width, valid - firstColumn)
      guard count > 0 else { continue }
      let target = unsafe row(y) + clip.x * format.bytesPerPixel
      unsafe body(stored * pixels.bytesPerRow + skipped, target, count)
    }
  }
}

extension FramePixels.Layout {
  /// Bytes that one pixel takes.
  var bytesPerPixel: Int {
    switch self {
    case .indexed8, .grey8: 1
    case .greyAlpha8, .grey16, .keyedGrey16: 2
    case .rgb8, .keyedRGB8: 3
    case .rgba8, .greyAlpha16: 4
    case .rgb16, .keyedRGB16: 6
    case .rgba16: 8
    }
  }
}
