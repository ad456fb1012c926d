/// An immutable picture. Copies of the value share its storage.
///
/// Rows are stored from top to bottom. They start at addresses aligned to 64 bytes, ``bytesPerRow`` bytes apart. The
/// bytes after the last pixel of a row are padding and have no meaning. The bytes of the picture do not move or change
/// while any copy of the value exists, so a pointer to them is valid as long as you keep a copy.
public struct Bitmap: Sendable {
  /// The width and height in pixels.
  public let size: PixelSize
  /// The memory layout of the pixels.
  public let format: PixelFormat
  /// The number of bytes from the start of one row to the start of the next: a multiple of 64.
  public let bytesPerRow: Int
  package let storage: PixelStorage

  package init(size: PixelSize, format: PixelFormat, bytesPerRow: Int, storage: PixelStorage) {
    self.size = size
    self.format = format
    self.bytesPerRow = bytesPerRow
    self.storage = storage
  }

  /// The number of pixels in a row.
  public var width: Int { size.width }
  /// The number of rows.
  public var height: Int { size.height }
  /// The picture's size in memory in bytes, including padding.
  public var byteCount: Int { storage.byteCount }

  /// All bytes of the picture, row by row, including padding.
  public var bytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      storage.bytes.extracting(first: bytesPerRow * size.height)
    }
  }

  /// Returns the bytes of row `y`, without padding.
  ///
  /// - Precondition: `0 <= y < height`.
  @_lifetime(borrow self)
  public borrowing func row(_ y: Int) -> RawSpan {
    precondition(
      y >= 0 && y < size.height, "row \(y) does not exist; there are \(size.height) rows")
    let start = y * bytesPerRow
    return bytes.extracting(start..<start + size.width * format.bytesPerPixel)
  }

  /// Returns the pixels of row `y`.
  ///
  /// - Precondition: `0 <= y < height`, and the format is ``PixelFormat/rgba8`` or ``PixelFormat/rgbx8``. For other
  ///   formats, use ``bytes(row:)`` or ``words(row:)``.
  @_lifetime(borrow self)
  public borrowing func pixels(row y: Int) -> Span<RGBA> {
    precondition(
      format == .rgba8 || format == .rgbx8, "a row in the format \(format) has no RGBA pixels")
    return Span<RGBA>(_bytes: row(y))
  }

  /// Returns the bytes of row `y`, without padding: one byte per pixel of a ``PixelFormat/gray8`` picture, four per
  /// pixel of a ``PixelFormat/bgra8`` picture.
  ///
  /// - Precondition: `0 <= y < height`.
  @_lifetime(borrow self)
  public borrowing func bytes(row y: Int) -> Span<UInt8> { Span<UInt8>(_bytes: row(y)) }

  /// Returns the 16-bit words of row `y`: one per pixel of an ``PixelFormat/rgb565`` picture, four
  /// per pixel of an ``PixelFormat/rgba16`` picture.
  ///
  /// - Precondition: `0 <= y < height`, and the format has words of 16 bits.
  @_lifetime(borrow self)
  public borrowing func words(row y: Int) -> Span<UInt16> {
    precondition(format.hasWords, "a row in the format \(format) has no 16-bit words")
    return Span<UInt16>(_bytes: row(y))
  }

  /// The pixel at (`x`, `y`).
  ///
  /// - Precondition: The point lies inside the picture, and the format is ``PixelFormat/rgba8`` or
  ///   ``PixelFormat/rgbx8``.
  public subscript(x: Int, y: Int) -> RGBA { pixels(row: y)[x] }
}

extension Bitmap: Equatable {
  /// Returns whether two pictures have the same size, format and pixels. Padding is not compared.
  public static func == (left: Bitmap, right: Bitmap) -> Bool {
    guard left.size == right.size, left.format == right.format else { return false }
    if left.storage === right.storage { return true }
    return (0..<left.size.height).allSatisfy { left.row($0).hasSameBytes(as: right.row($0)) }
  }
}

extension Bitmap {
  /// Creates a picture by drawing its rows from top to bottom.
  ///
  /// Calls `draw` once for each row with the row's bytes, without padding. The bytes are zero (transparent black) when
  /// `draw` is called, and `draw` fills them in according to `format`.
  ///
  /// - Throws: `parameter` if a side of `size` is negative, or a row would be too long; `outOfMemory` if allocation
  ///   fails.
  public init(
    size: PixelSize, format: PixelFormat = .rgba8,
    drawingRow draw: (_ y: Int, _ bytes: inout MutableRawSpan) -> Void
  ) throws(AnimatedImageError) {
    guard (0...Int.max / format.bytesPerPixel).contains(size.width), size.height >= 0 else {
      throw AnimatedImageError(.parameter, "a picture cannot have the size \(size)")
    }
    var buffer = try PixelBuffer(asking: size, format: format)
    let stride = buffer.bytesPerRow
    let count = size.width * format.bytesPerPixel
    for y in 0..<size.height {
      var bytes = buffer.mutableBytes
      var row = bytes._mutatingExtracting(y * stride..<y * stride + count)
      draw(y, &row)
    }
    self = buffer.finish()
  }

  /// Creates a picture from the bytes of its pixels.
  ///
  /// - Parameters:
  ///   - size: The size of the picture.
  ///   - format: The format of the pixels. Default: ``PixelFormat/rgba8``.
  ///   - pixels: The bytes of all pixels, row by row from the top, without padding.
  /// - Throws: `parameter` if a side of `size` is negative, or if the pixels of such a picture take another number of
  ///   bytes; `outOfMemory` if allocation fails.
  public init(
    size: PixelSize, format: PixelFormat = .rgba8, bytes pixels: [UInt8]
  ) throws(AnimatedImageError) {
    let (rowCount, isTooWide) = size.width.multipliedReportingOverflow(by: format.bytesPerPixel)
    let (count, isTooLarge) = rowCount.multipliedReportingOverflow(by: size.height)
    guard size.width >= 0, size.height >= 0, !isTooWide, !isTooLarge, pixels.count == count else {
      throw AnimatedImageError(
        .parameter, "\(pixels.count) bytes are not the pixels of a picture of \(size) in \(format)")
    }
    try self.init(size: size, format: format) { y, row in
      for x in 0..<rowCount {
        row.storeBytes(of: pixels[y * rowCount + x], toByteOffset: x, as: UInt8.self)
      }
    }
  }
}

/// Returns the result of `work`, for callers that cannot throw. If `work` throws because memory has run out, the
/// process ends. Use this function only for pictures that are no larger than a screen, or no larger than a picture that
/// is already in memory.
package func endingWithoutMemory<Value>(_ work: @autoclosure () throws -> Value) -> Value {
  do { return try work() } catch { fatalError("\(error)") }
}

/// A picture being drawn. It is the sole owner of its pixels until it becomes a ``Bitmap``.
package struct PixelBuffer: ~Copyable, Sendable {
  package let size: PixelSize
  package let format: PixelFormat
  package let bytesPerRow: Int
  let storage: PixelStorage

  /// Creates a buffer for a picture of `size`. Its bytes are zero (transparent black) unless `zeroed` is false.
  ///
  /// The process ends if allocation fails. To get an error instead, use ``init(asking:format:zeroed:)``.
  package init(size: PixelSize, format: PixelFormat = .rgba8, zeroed: Bool = true) {
    do {
      try self.init(asking: size, format: format, zeroed: zeroed)
    } catch {
      fatalError("\(error)")
    }
  }

  /// Like ``init(size:format:zeroed:)``, but throws if allocation fails. Use this initializer for sizes that come from
  /// a file.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  package init(
    asking size: PixelSize, format: PixelFormat = .rgba8, zeroed: Bool = true
  ) throws(AnimatedImageError) {
    self.size = size
    self.format = format
    bytesPerRow = format.bytesPerRow(width: size.width)
    let (count, isTooMany) = bytesPerRow.multipliedReportingOverflow(by: max(size.height, 0))
    storage = try PixelStorage(
      asking: isTooMany ? .max : count, for: size, format, zeroed: zeroed)
  }

  /// Creates a buffer for drawing over the pixels of `bitmap`. The caller must be the sole owner of these pixels.
  package init(redrawing bitmap: Bitmap) {
    precondition(bitmap.storage.isWritable, "a lent picture")
    (size, format, bytesPerRow) = (bitmap.size, bitmap.format, bitmap.bytesPerRow)
    storage = bitmap.storage
  }

  /// Finishes drawing and returns the pixels as an immutable bitmap, without a copy.
  package consuming func finish() -> Bitmap {
    Bitmap(size: size, format: format, bytesPerRow: bytesPerRow, storage: storage)
  }
}
