// Bitmaps, and how they are drawn.
//
// Unsafe: spans of a picture are taken from its storage, a reference, so the compiler cannot see that they
// live as long as the picture, which holds the reference and is borrowed by each span. Their bounds are
// checked by `extracting`.

/// An immutable picture whose storage is shared, never copied, when the value is.
///
/// Rows lie top first, ``bytesPerRow`` bytes apart, which is a multiple of 64; the first byte of
/// each row is aligned to 64. Bytes past the last pixel of a row have no meaning. The bytes stay where
/// they are, unchanged, while any copy of the value lives, so a pointer to them is good as long as a copy
/// is kept beside it.
public struct Bitmap: Sendable {
  /// Width and height.
  public let size: PixelSize
  /// How the pixels lie in memory.
  public let format: PixelFormat
  /// Bytes from the start of one row to the start of the next; a multiple of 64.
  public let bytesPerRow: Int
  package let storage: PixelStorage

  package init(size: PixelSize, format: PixelFormat, bytesPerRow: Int, storage: PixelStorage) {
    self.size = size
    self.format = format
    self.bytesPerRow = bytesPerRow
    self.storage = storage
  }

  /// Pixels in a row.
  public var width: Int { size.width }
  /// Rows.
  public var height: Int { size.height }
  /// Bytes of memory that the picture holds; what a cache charges.
  public var cost: Int { storage.byteCount }

  /// All bytes, row after row with their padding.
  public var bytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      unsafe _overrideLifetime(
        storage.bytes.extracting(first: bytesPerRow * size.height), borrowing: self)
    }
  }

  /// The bytes of row `y`, without padding.
  ///
  /// - Precondition: `0 <= y < height`.
  @_lifetime(borrow self)
  public borrowing func row(_ y: Int) -> RawSpan {
    precondition(y >= 0 && y < size.height, "row \(y) of a picture of \(size.height) rows")
    let start = y * bytesPerRow
    let span = bytes.extracting(start..<start + size.width * format.bytesPerPixel)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The pixels of row `y` of an ``PixelFormat/rgba8`` picture.
  ///
  /// - Precondition: `0 <= y < height`, and the format has four channels of 8 bits.
  @_lifetime(borrow self)
  public borrowing func pixels(row y: Int) -> Span<RGBA> {
    precondition(format.bytesPerPixel == 4, "a row of \(format) has no RGBA pixels")
    let span = Span<RGBA>(_bytes: row(y))
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The pixel at (`x`, `y`) of an ``PixelFormat/rgba8`` picture.
  ///
  /// - Precondition: the point lies inside, and the format has four channels of 8 bits.
  public subscript(x: Int, y: Int) -> RGBA { pixels(row: y)[x] }
}

extension Bitmap: Equatable {
  /// Whether size, format and every pixel are the same; padding does not count.
  public static func == (left: Bitmap, right: Bitmap) -> Bool {
    guard left.size == right.size, left.format == right.format else { return false }
    if left.storage === right.storage { return true }
    return (0..<left.size.height).allSatisfy { left.row($0).hasSameBytes(as: right.row($0)) }
  }
}

extension Bitmap {
  /// Makes a picture by drawing its rows, from the top one down.
  ///
  /// `draw` is called once for each row with its bytes, without padding and all zero
  /// (transparent black), and fills them in as `format` lays pixels out.
  public init(
    size: PixelSize, format: PixelFormat = .rgba8,
    drawingRow draw: (_ y: Int, _ bytes: inout MutableRawSpan) -> Void
  ) {
    let buffer = PixelBuffer(size: size, format: format)
    let stride = buffer.bytesPerRow
    let count = max(size.width, 0) * format.bytesPerPixel
    for y in 0..<max(size.height, 0) {
      // The buffer is ours alone until `finish`, and holds `height` rows of `stride` bytes.
      let start = unsafe buffer.baseAddress + y * stride
      var row = unsafe MutableRawSpan(_unsafeStart: start, byteCount: count)
      draw(y, &row)
    }
    self = buffer.finish()
  }
}

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

  /// Makes it a copy of `bitmap`, which has its size and format.
  package mutating func copy(_ bitmap: Bitmap) {
    precondition(bitmap.size == size && bitmap.format == format)
    storage.store(bitmap.bytes)
  }

  /// The address of the first byte; valid while this buffer, or the bitmap made of it, lives.
  @unsafe package var baseAddress: UnsafeMutableRawPointer { unsafe storage.baseAddress }

  /// Ends the drawing: the pixels as an immutable bitmap, without a copy.
  package consuming func finish() -> Bitmap {
    Bitmap(size: size, format: format, bytesPerRow: bytesPerRow, storage: storage)
  }
}
