internal import Glibc

/// The picture area that frames are drawn into, shared with the bitmaps made of it until it changes.
///
/// Copy on write: a bitmap taken from the canvas costs nothing when it is gone before the next frame
/// is drawn, and one copy otherwise. Unsafe code: every rectangle is clipped to the canvas by its
/// caller and asserted here, so each row access stays within `bytesPerRow * height` bytes.
package struct Canvas {
  package let size: PixelSize
  package let format: PixelFormat
  package let bytesPerRow: Int
  private var storage: PixelStorage

  /// A transparent canvas.
  package init(size: PixelSize, format: PixelFormat) {
    self.size = size
    self.format = format
    bytesPerRow = format.bytesPerRow(width: size.width)
    storage = PixelStorage(byteCount: bytesPerRow * size.height)
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

  /// Makes the pixels this canvas's own.
  ///
  /// - Parameter keepsContent: False when every pixel is about to be replaced.
  package mutating func makeUnique(keepsContent: Bool = true) {
    guard !isKnownUniquelyReferenced(&storage) else { return }
    let copy = PixelStorage(byteCount: storage.byteCount, zeroed: false)
    if keepsContent {
      // Both blocks are `storage.byteCount` bytes long.
      unsafe memcpy(copy.baseAddress, storage.baseAddress, storage.byteCount)
    }
    storage = copy
  }

  /// The address of a row, for writing.
  ///
  /// - Precondition: `makeUnique()` was called, and `0 <= y < height`.
  @unsafe package mutating func row(_ y: Int) -> UnsafeMutableRawPointer {
    assert(y >= 0 && y < size.height)
    return unsafe storage.baseAddress + y * bytesPerRow
  }

  /// Makes `rect` transparent.
  package mutating func clear(_ rect: PixelRect) {
    guard !rect.isEmpty else { return }
    assert(bounds.contains(rect))
    makeUnique(keepsContent: rect != bounds)
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
  package func copy(_ rect: PixelRect) -> SavedRect {
    assert(bounds.contains(rect))
    let rowBytes = rect.width * format.bytesPerPixel
    let saved = PixelStorage(byteCount: rowBytes * rect.height, zeroed: false)
    for line in 0..<rect.height {
      let start = (rect.y + line) * bytesPerRow + rect.x * format.bytesPerPixel
      unsafe memcpy(
        saved.baseAddress + line * rowBytes, storage.baseAddress + start, rowBytes)
    }
    return SavedRect(rect: rect, storage: saved)
  }

  /// Puts copied pixels back where they were.
  package mutating func restore(_ saved: SavedRect) {
    let rect = saved.rect
    guard !rect.isEmpty else { return }
    assert(bounds.contains(rect))
    makeUnique()
    let rowBytes = rect.width * format.bytesPerPixel
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
