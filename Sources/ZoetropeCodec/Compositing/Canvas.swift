internal import Glibc

/// The picture area that frames are drawn into, shared with the bitmaps made of it until it changes.
///
/// Copy on write: a bitmap taken from the canvas costs nothing when it is gone before the next frame
/// is drawn. Otherwise the canvas moves on to another block, for which there may be no memory; to one
/// that held an earlier picture, it copies only what has changed since. Cannot be copied: two canvases
/// with one history would take each other's blocks for their own.
///
/// Unsafe code: every rectangle is checked to lie on the canvas when it comes in, so each row access
/// stays within `bytesPerRow * height` bytes.
package struct Canvas: ~Copyable {
  package let size: PixelSize
  package let format: PixelFormat
  package let bytesPerRow: Int
  private var storage: PixelStorage
  private var history = CanvasHistory()

  /// A canvas without pixels.
  package init() {
    size = PixelSize(width: 0, height: 0)
    format = .rgba8
    bytesPerRow = 0
    storage = PixelStorage(byteCount: 0)
  }

  /// A transparent canvas.
  ///
  /// - Parameter byteCount: Bytes of its block, when those should be more than the pixels take: those
  ///   of blocks that it will exchange its own for.
  /// - Throws: `limitExceeded`, here and wherever it may have to be copied, when the system has no
  ///   memory for it.
  package init(
    size: PixelSize, format: PixelFormat, byteCount: Int = 0
  ) throws(AnimatedImageError) {
    self.size = size
    self.format = format
    bytesPerRow = format.bytesPerRow(width: size.width)
    storage = try PixelStorage(asking: max(bytesPerRow * size.height, byteCount))
  }

  /// A canvas that starts as `bitmap`, without copying it.
  package init(_ bitmap: Bitmap) {
    size = bitmap.size
    format = bitmap.format
    bytesPerRow = bitmap.bytesPerRow
    storage = bitmap.storage
  }

  /// The picture as it is now. The canvas copies itself before it is changed, if this still lives.
  package var bitmap: Bitmap {
    Bitmap(size: size, format: format, bytesPerRow: bytesPerRow, storage: storage)
  }

  package var bounds: PixelRect { PixelRect(size) }

  /// Whether nobody else has the block, and it may be written: one lent by a frame store never is.
  private var ownsStorage: Bool {
    mutating get { isKnownUniquelyReferenced(&storage) && storage.isWritable }
  }

  /// Makes the pixels this canvas's own, for `rect` to be drawn on.
  ///
  /// - Parameter keepsContent: False when every pixel is about to be replaced.
  package mutating func makeUnique(
    changing rect: PixelRect, keepsContent: Bool = true
  ) throws(AnimatedImageError) {
    precondition(bounds.contains(rect), "a rectangle outside the canvas")
    if ownsStorage {
      // Where it came from another canvas, it is a picture of that one no longer.
      storage.stamp = PictureStamp()
    } else {
      let (next, earlier) = try PixelStorage.next(storage.byteCount, of: history.stamp.canvas)
      storage.stamp = history.stamp
      history.advance()
      let changes = history.changes(since: earlier)
      if keepsContent {
        copyPixels(of: changes ?? bounds, to: next)
      } else if changes == nil {
        // An earlier picture of this canvas has zeros there, and a copy of whole rows too.
        next.clearPadding(of: size, format: format)
      }
      storage = next
    }
    history.note(rect)
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

  /// Takes the block of `pixels`, a frame that lies in it as on the canvas, for the canvas's own, which
  /// goes to `pixels` unless a bitmap shares it.
  ///
  /// - Precondition: `rect`, the frame's, lies on the canvas.
  mutating func adopt(_ pixels: FramePixels, changing rect: PixelRect, keepsContent: Bool) {
    precondition(!rect.isEmpty && bounds.contains(rect), "a rectangle outside the canvas")
    precondition(pixels.isSettled && pixels.storage.byteCount >= bytesPerRow * size.height)
    if keepsContent { copyPixels(around: rect, to: pixels.storage) }
    if ownsStorage {
      storage.stamp = PictureStamp()
      storage = pixels.exchangeStorage(for: storage)
    } else {
      storage.stamp = history.stamp
      history.advance()
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

  /// The address of a row, for writing.
  ///
  /// - Precondition: `makeUnique` was called for the row, and `0 <= y < height`.
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

  /// Copies the pixels of `rect` out.
  package func copy(_ rect: PixelRect) throws(AnimatedImageError) -> SavedRect {
    precondition(bounds.contains(rect), "a rectangle outside the canvas")
    let rowBytes = rect.width * format.bytesPerPixel
    // The canvas's size, or a half or a quarter and so on: of every other size a block would be left
    // waiting for the next rectangle that is just as large. Pages that are not written cost nothing.
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

  /// Puts copied pixels back where they were.
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

/// A part of the canvas, kept to be put back.
package struct SavedRect {
  package let rect: PixelRect
  fileprivate let storage: PixelStorage
}
