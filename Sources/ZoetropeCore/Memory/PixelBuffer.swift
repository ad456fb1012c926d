/// A picture being drawn: the one owner of its pixels, until it becomes a ``Bitmap``.
package struct PixelBuffer: ~Copyable, Sendable {
  package let size: PixelSize
  package let format: PixelFormat
  package let bytesPerRow: Int
  private let storage: PixelStorage

  /// A picture of `size`, all bytes zero (transparent black) unless `zeroed` is false.
  ///
  /// Without memory for it the process ends; see ``init(asking:format:zeroed:)``.
  package init(size: PixelSize, format: PixelFormat = .rgba8, zeroed: Bool = true) {
    do {
      try self.init(asking: size, format: format, zeroed: zeroed)
    } catch {
      fatalError("\(error)")
    }
  }

  /// As ``init(size:format:zeroed:)``.
  ///
  /// - Throws: `limitExceeded` when the system has no memory for it.
  package init(
    asking size: PixelSize, format: PixelFormat = .rgba8, zeroed: Bool = true
  ) throws(AnimatedImageError) {
    self.size = size
    self.format = format
    bytesPerRow = format.bytesPerRow(width: size.width)
    storage = try PixelStorage(asking: bytesPerRow * max(size.height, 0), zeroed: zeroed)
    if !zeroed { storage.clearPadding(of: size, format: format) }
  }

  /// The bytes for writing, row after row, `bytesPerRow` apart.
  package var mutableBytes: MutableRawSpan {
    @_lifetime(&self)
    mutating get {
      let span = unsafe MutableRawSpan(
        _unsafeStart: storage.baseAddress, byteCount: storage.byteCount)
      return unsafe _overrideLifetime(span, mutating: &self)
    }
  }

  /// The address of the first byte; valid while this buffer, or the bitmap made of it, lives.
  @unsafe package var baseAddress: UnsafeMutableRawPointer { unsafe storage.baseAddress }

  /// Ends the drawing: the pixels as an immutable bitmap, without a copy.
  package consuming func finish() -> Bitmap {
    Bitmap(size: size, format: format, bytesPerRow: bytesPerRow, storage: storage)
  }
}
