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
    let rect = control.rect
    let firstColumn = clip.x - rect.x
    let source = unsafe UnsafeRawPointer(pixels.storage.baseAddress) + pixels.offset
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
      let row = unsafe source + stored * pixels.bytesPerRow
      let target = unsafe canvas.row(y) + clip.x * canvas.format.bytesPerPixel
      if canvas.format == .rgba16 {
        unsafe PlainRows.draw16(
          pixels, row, from: firstColumn, count: count, blend: control.blend,
          into: target.assumingMemoryBound(to: UInt16.self))
      } else {
        unsafe PlainRows.draw8(
          pixels, row, from: firstColumn, count: count, blend: control.blend,
          into: target.assumingMemoryBound(to: UInt32.self))
      }
    }
  }
}
