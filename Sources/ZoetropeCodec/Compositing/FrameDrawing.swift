/// Puts a decoded frame on the canvas, row by row.
enum FrameDrawing {
  /// Draws the valid pixels of `pixels` that lie in `clip`.
  ///
  /// Unsafe: reads `pixels.storage` within `height * bytesPerRow` bytes from its offset, which the
  /// decoder reserved, and writes canvas rows within `clip`, which lies on the canvas.
  ///
  /// - Precondition: the canvas is unique, and `clip` lies within it and within the frame's rect.
  @unsafe static func draw(
    _ pixels: FramePixels, _ control: FrameControl, clip: PixelRect, onto canvas: inout Canvas
  ) {
    guard pixels.width > 0 else { return }
    if pixels.hasBinaryAlpha, canvas.format == .rgba8 {
      unsafe drawIndexed(pixels, control.rect, clip, onto: &canvas)
      return
    }
    let isSource = control.blend == .source || pixels.isOpaque
    let source = unsafe UnsafeRawPointer(pixels.storage.baseAddress) + pixels.offset
    let isDeep = canvas.format == .rgba16
    unsafe pixels.palette.withUnsafeBufferPointer { palette in
      guard let colors = palette.baseAddress else { return }
      unsafe forEachRow(pixels, control.rect, clip, onto: &canvas) { offset, target, count in
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
  @unsafe private static func drawIndexed(
    _ pixels: FramePixels, _ rect: PixelRect, _ clip: PixelRect, onto canvas: inout Canvas
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
          into: canvas.row(clip.y).assumingMemoryBound(to: UInt32.self) + clip.x,
          canvasStride: canvas.bytesPerRow / 4)
        return
      }
      unsafe forEachRow(pixels, rect, clip, onto: &canvas) { offset, target, count in
        unsafe IndexedBlitter.over(
          indices: (source + offset).assumingMemoryBound(to: UInt8.self), count: count,
          palette: colors, transparent: pixels.transparentIndex,
          into: target.assumingMemoryBound(to: UInt32.self))
      }
    }
  }

  /// Calls `body` for each row of the frame that shows in `clip`, with the byte offset of its first
  /// shown sample, where it goes on the canvas, and how many pixels are valid there.
  @unsafe private static func forEachRow(
    _ pixels: FramePixels, _ rect: PixelRect, _ clip: PixelRect, onto canvas: inout Canvas,
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
      let target = unsafe canvas.row(y) + clip.x * canvas.format.bytesPerPixel
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
