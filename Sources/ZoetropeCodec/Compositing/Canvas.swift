internal import Glibc

/// The picture area that frames are drawn into.
///
/// The canvas and the bitmaps taken from it share a block of memory until the canvas changes (copy on write). A bitmap
/// costs nothing if it is released before the next frame is drawn. Otherwise the canvas moves to another block, whose
/// allocation may fail. If that block still holds an earlier picture of the canvas, only the differences are copied.
/// The type is noncopyable because two canvases with the same history would mistake each other's blocks for their own.
///
/// Unsafe code: every rectangle is checked on entry to lie on the canvas, so each row access stays within the first
/// `bytesPerRow * height` bytes of the block.
package struct Canvas: ~Copyable, Sendable {
  package let size: PixelSize
  package let format: PixelFormat
  package let bytesPerRow: Int
  private var storage: PixelStorage
  private var history = CanvasHistory()

  /// Creates a canvas without pixels.
  package init() {
    size = PixelSize(width: 0, height: 0)
    format = .rgba8
    bytesPerRow = 0
    storage = PixelStorage(byteCount: 0)
  }

  /// Creates a transparent canvas. If `zeroed` is false, the pixels are unspecified instead, and all of them must be
  /// drawn.
  ///
  /// - Parameter byteCount: The minimum size, in bytes, of the canvas's block. Pass it if the canvas will exchange its
  ///   block for blocks that are larger than the pixels need.
  /// - Throws: `outOfMemory` if allocation fails. The methods that may have to copy the canvas throw this error too.
  package init(
    size: PixelSize, format: PixelFormat, byteCount: Int = 0, zeroed: Bool = true
  ) throws(AnimatedImageError) {
    self.size = size
    self.format = format
    bytesPerRow = format.bytesPerRow(width: size.width)
    storage = try PixelStorage(
      asking: max(bytesPerRow * size.height, byteCount), for: size, format, zeroed: zeroed)
  }

  /// Creates a canvas that shows `bitmap`, without copying it.
  package init(_ bitmap: Bitmap) {
    size = bitmap.size
    format = bitmap.format
    bytesPerRow = bitmap.bytesPerRow
    storage = bitmap.storage
  }

  deinit { PixelMemory.release(history.stamp.canvas) }

  /// Releases the blocks kept for the next pictures.
  package func rest() { PixelMemory.release(history.stamp.canvas) }

  /// The current picture. If this bitmap still exists when the canvas next changes, the canvas first moves to another
  /// block.
  package var bitmap: Bitmap {
    Bitmap(size: size, format: format, bytesPerRow: bytesPerRow, storage: storage)
  }

  package var bounds: PixelRect { PixelRect(size) }

  /// Whether the canvas is the only owner of its block and may write to it. A block borrowed from a frame store is
  /// never writable.
  private var ownsStorage: Bool {
    mutating get { isKnownUniquelyReferenced(&storage) && storage.isWritable }
  }

  /// Gives the canvas a block of its own before `rect` is drawn.
  ///
  /// - Parameter keepsContent: Whether the current pixels are still needed. Pass false only if every pixel is about to
  ///   be replaced.
  package mutating func makeUnique(
    changing rect: PixelRect, keepsContent: Bool = true
  ) throws(AnimatedImageError) {
    precondition(bounds.contains(rect), "a rectangle outside the canvas")
    if ownsStorage {
      // If the block came from another canvas, it will no longer hold the picture of that canvas.
      storage.stamp = PictureStamp()
    } else {
      let (next, earlier) = try PixelStorage.next(storage.byteCount, of: history.stamp.canvas)
      handOut()
      let changes = history.changes(since: earlier)
      if keepsContent {
        for rect in changes ?? [bounds] { copyPixels(of: rect, to: next) }
      } else if changes == nil {
        // Clear the padding only here: a block with an earlier picture of this canvas already has zero padding, and a
        // copy of whole rows includes the padding.
        unsafe next.clearPadding(of: size, format: format)
      }
      storage = next
    }
    history.note(rect)
  }

  /// Leaves the block to the bitmaps that share it, and begins the next picture.
  private mutating func handOut() {
    let stamp = history.stamp
    storage.stamp = stamp
    history.advance()
    if history.stamp.canvas != stamp.canvas { PixelMemory.release(stamp.canvas) }
  }

  /// Copies the rows of `rect` to another block of this canvas's size.
  private func copyPixels(of rect: PixelRect, to target: PixelStorage) {
    guard !rect.isEmpty else { return }
    // Both blocks hold a canvas, and `rect` is a union of rectangles on it.
    assert(bounds.contains(rect) && target.byteCount >= bytesPerRow * size.height)
    if rect.width == size.width {
      let start = rect.y * bytesPerRow
      unsafe memcpy(
        target.baseAddress + start, storage.baseAddress + start, rect.height * bytesPerRow)
      return
    }
    for y in rect.y..<rect.maxY {
      let start = y * bytesPerRow + rect.x * format.bytesPerPixel
      unsafe memcpy(
        target.baseAddress + start, storage.baseAddress + start,
        rect.width * format.bytesPerPixel)
    }
  }

  /// Replaces the canvas's block with that of `pixels`, a frame stored at its canvas position. The old block goes to
  /// `pixels`, unless a bitmap shares the old block.
  ///
  /// - Precondition: `rect`, the frame's rectangle, lies on the canvas.
  mutating func adopt(_ pixels: FramePixels, changing rect: PixelRect, keepsContent: Bool) {
    precondition(!rect.isEmpty && bounds.contains(rect), "a rectangle outside the canvas")
    precondition(pixels.content.isInPlace && pixels.storage.byteCount >= bytesPerRow * size.height)
    if keepsContent { copyPixels(around: rect, to: pixels.storage) }
    if ownsStorage {
      storage.stamp = PictureStamp()
      storage = pixels.exchangeStorage(for: storage)
    } else {
      handOut()
      storage = pixels.exchangeStorage(for: nil)
    }
    history.note(rect)
  }

  /// Copies everything but `rect` to another block of this canvas's size.
  private func copyPixels(around rect: PixelRect, to target: PixelStorage) {
    let (width, height) = (size.width, size.height)
    for rest in [
      PixelRect(x: 0, y: 0, width: width, height: rect.y),
      PixelRect(x: 0, y: rect.y, width: rect.x, height: rect.height),
      PixelRect(x: rect.maxX, y: rect.y, width: width - rect.maxX, height: rect.height),
      PixelRect(x: 0, y: rect.maxY, width: width, height: height - rect.maxY),
    ] { copyPixels(of: rest, to: target) }
  }

  /// Redraws `rect` by calling `body` with a buffer of the whole canvas. If `body` throws, the contents of the
  /// rectangle are unspecified.
  package mutating func redraw(
    _ rect: PixelRect, _ body: (inout PixelBuffer) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) {
    try makeUnique(changing: rect, keepsContent: rect != bounds)
    var buffer = PixelBuffer(redrawing: bitmap)
    try body(&buffer)
  }

  /// Returns the address of a row for writing.
  ///
  /// - Precondition: `makeUnique` was called for a rectangle that includes the row, and `0 <= y < height`.
  @unsafe package mutating func row(_ y: Int) -> UnsafeMutableRawPointer {
    assert(y >= 0 && y < size.height)
    return unsafe storage.baseAddress + y * bytesPerRow
  }

  /// Makes `rect` transparent.
  package mutating func clear(_ rect: PixelRect) throws(AnimatedImageError) {
    guard !rect.isEmpty else { return }
    try makeUnique(changing: rect, keepsContent: rect != bounds)
    if rect == bounds {
      unsafe memset(storage.baseAddress, 0, storage.byteCount)
      return
    }
    let pixel = format.bytesPerPixel
    for y in rect.y..<rect.maxY {
      unsafe memset(row(y) + rect.x * pixel, 0, rect.width * pixel)
    }
  }

  /// Returns a copy of the pixels of `rect`, to be restored later.
  package func copy(_ rect: PixelRect) throws(AnimatedImageError) -> SavedRect {
    precondition(bounds.contains(rect), "a rectangle outside the canvas")
    let rowBytes = rect.width * format.bytesPerPixel
    // Halve the size of the canvas's block for as long as the pixels fit. A block of any other size would wait in the
    // pool for another rectangle of exactly that size. Pages that are never written cost nothing.
    var byteCount = storage.byteCount
    while byteCount / 2 >= rowBytes * rect.height, byteCount > 64 { byteCount /= 2 }
    let saved = try PixelStorage(asking: byteCount, zeroed: false)
    for line in 0..<rect.height {
      let start = (rect.y + line) * bytesPerRow + rect.x * format.bytesPerPixel
      unsafe memcpy(
        saved.baseAddress + line * rowBytes, storage.baseAddress + start, rowBytes)
    }
    return SavedRect(rect: rect, storage: saved)
  }

  /// Restores the pixels that ``copy(_:)`` returned.
  package mutating func restore(_ saved: SavedRect) throws(AnimatedImageError) {
    let rect = saved.rect
    guard !rect.isEmpty else { return }
    let rowBytes = rect.width * format.bytesPerPixel
    precondition(saved.storage.byteCount >= rowBytes * rect.height, "copied from another format")
    try makeUnique(changing: rect)
    for line in 0..<rect.height {
      unsafe memcpy(
        row(rect.y + line) + rect.x * format.bytesPerPixel,
        saved.storage.baseAddress + line * rowBytes, rowBytes)
    }
  }
}

/// A saved part of the canvas, which can be restored later.
package struct SavedRect {
  package let rect: PixelRect
  fileprivate let storage: PixelStorage
}

extension Canvas {
  /// Draws the valid pixels of `pixels` that lie in `clip`.
  ///
  /// Unsafe: rows are read from `pixels.storage` and written to the canvas by address. The preconditions guarantee that
  /// the valid rows lie in the storage, and that `clip` lies on the canvas and in the frame.
  ///
  /// - Parameter keepsContent: See ``makeUnique(changing:keepsContent:)``.
  /// - Precondition: `clip` lies on the canvas and within the frame's rect.
  mutating func draw(
    _ pixels: FramePixels, _ control: FrameControl, clip: PixelRect, keepsContent: Bool
  ) throws(AnimatedImageError) {
    try makeUnique(changing: clip, keepsContent: keepsContent)
    let content = pixels.content
    precondition(control.rect.contains(clip) && control.rect.size == content.size)
    let rows = content.width > 0 ? (content.validPixels - 1) / content.width + 1 : 0
    guard content.validPixels > 0, rows > 0 else { return }
    precondition(
      rows <= content.height && content.offset >= 0
        && content.offset + (rows - 1) * content.bytesPerRow
          + content.width * content.layout.bytesPerPixel <= pixels.storage.byteCount
    )
    if content.hasBinaryAlpha, format == .rgba8 {
      unsafe drawIndexed(pixels, control.rect, clip)
      return
    }
    let isSource = control.blend == .source || content.isOpaque
    let source = unsafe UnsafeRawPointer(pixels.storage.baseAddress) + content.offset
    let isDeep = format == .rgba16
    unsafe pixels.palette.withUnsafeBufferPointer { palette in
      guard let colors = palette.baseAddress else { return }
      if content.width == 1, isSource, !isDeep, !content.isInterlaced {
        // Draw the whole column with one call: a call for each row would take longer than drawing the row's single
        // pixel.
        let first = clip.y - control.rect.y
        unsafe RowExpander.writeColumn(
          content.layout, from: source + first * content.bytesPerRow, pitch: content.bytesPerRow,
          to: row(clip.y) + clip.x * format.bytesPerPixel, pitch: bytesPerRow,
          count: min(clip.height, rows - first), palette: colors)
        return
      }
      unsafe forEachRow(content, control.rect, clip) { offset, target, count in
        let row = unsafe source + offset
        if isDeep {
          let target = unsafe target.assumingMemoryBound(to: SIMD4<UInt16>.self)
          unsafe isSource
            ? RowExpander.writeDeep(
              content.layout, from: row, to: target, count: count, palette: colors)
            : RowBlender.overDeep(
              content.layout, from: row, to: target, count: count, palette: colors)
        } else {
          let target = unsafe target.assumingMemoryBound(to: UInt32.self)
          unsafe isSource
            ? RowExpander.write(
              content.layout, from: row, to: target, count: count, palette: colors)
            : RowBlender.over(
              content.layout, from: row, to: target, count: count, palette: colors)
        }
      }
    }
  }

  /// Draws a GIF frame in one call if it is complete and its rows are in order, and otherwise row by row.
  @unsafe private mutating func drawIndexed(
    _ pixels: FramePixels, _ rect: PixelRect, _ clip: PixelRect
  ) {
    let content = pixels.content
    let source = unsafe UnsafeRawPointer(pixels.storage.baseAddress) + content.offset
    let isWhole = content.isComplete && !content.isInterlaced
    unsafe pixels.palette.withUnsafeBufferPointer { palette in
      guard let colors = palette.baseAddress else { return }
      if isWhole {
        let first = (clip.y - rect.y) * content.bytesPerRow + clip.x - rect.x
        unsafe IndexedBlitter.draw(
          indices: (source + first).assumingMemoryBound(to: UInt8.self),
          indexStride: content.bytesPerRow, width: clip.width, height: clip.height,
          palette: colors, transparent: content.transparentIndex,
          into: row(clip.y).assumingMemoryBound(to: UInt32.self) + clip.x,
          canvasStride: bytesPerRow / 4)
        return
      }
      unsafe forEachRow(content, rect, clip) { offset, target, count in
        unsafe IndexedBlitter.over(
          indices: (source + offset).assumingMemoryBound(to: UInt8.self), count: count,
          palette: colors, transparent: content.transparentIndex,
          into: target.assumingMemoryBound(to: UInt32.self))
      }
    }
  }

  /// Calls `body` for each row of the frame that has valid pixels in `clip`. `body` receives the byte offset from the
  /// frame's first pixel to the row's first pixel in `clip`, the address of that pixel on the canvas, and the number of
  /// the row's valid pixels in `clip`.
  @unsafe private mutating func forEachRow(
    _ content: FramePixels.Content, _ rect: PixelRect, _ clip: PixelRect,
    _ body: (Int, UnsafeMutableRawPointer, Int) -> Void
  ) {
    let firstColumn = clip.x - rect.x
    let skipped = firstColumn * content.layout.bytesPerPixel
    let completeRows = content.validPixels / content.width
    let partial = content.validPixels % content.width
    for stored in 0..<min(completeRows + (partial > 0 ? 1 : 0), content.height) {
      let shown =
        content.isInterlaced ? GIFInterlace.row(stored, height: content.height) : stored
      let y = rect.y + shown
      guard y >= clip.y, y < clip.maxY else { continue }
      let valid = stored < completeRows ? content.width : partial
      let count = min(clip.width, valid - firstColumn)
      guard count > 0 else { continue }
      let target = unsafe row(y) + clip.x * format.bytesPerPixel
      unsafe body(stored * content.bytesPerRow + skipped, target, count)
    }
  }
}
