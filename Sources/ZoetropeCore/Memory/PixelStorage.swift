internal import Glibc
internal import Synchronization

// Memory for pixels.
//
// Unsafe code: a block is an address and a size that come from the allocator or from `PixelMemory`, or are borrowed. It
// belongs to one `PixelStorage`, from `init` to `deinit`. Every read or write in this file is bounds-checked.

/// A block of memory aligned to 64 bytes. The block is either allocated and freed by this object, or part of a
/// read-only mapping that is borrowed for the lifetime of this object.
///
/// The block has ``byteCount`` bytes and is valid exactly as long as this object exists. Every access below borrows the
/// object.
@safe
package final class PixelStorage: @unchecked Sendable {
  // Sendable: a block is written only by its sole owner (a `PixelBuffer`, the holder of a `FramePixels`, or a decoder
  // or scaler that uses the block as scratch memory) or by a `Canvas` that holds the only reference. Once the block is
  // shared, it is only read. A borrowed block is never written: `Canvas`, the only type that takes over blocks that it
  // did not create, checks `isWritable` first, and the pages are mapped without write permission.
  @usableFromInline let base: UnsafeMutableRawPointer
  /// The size of the block in bytes.
  package let byteCount: Int
  private let origin: Origin
  /// The owner of a borrowed block, retained to keep the block alive.
  private let lender: (any AnyObject & Sendable)?

  private enum Origin { case allocator, pixelMemory, lent }

  /// Whether the sole owner of the block may change its bytes. False for a borrowed block.
  package var isWritable: Bool { origin != .lent }

  /// The stamp of the picture in the block. The word is atomic, because a canvas writes it while bitmaps share the
  /// block.
  private let stampWord = Atomic<UInt64>(0)

  package var stamp: PictureStamp {
    get { PictureStamp(word: stampWord.load(ordering: .relaxed)) }
    set {
      // Usually, the block already has this stamp. Checking first avoids a write, which would take the cache line away
      // from other processors.
      if newValue != stamp { stampWord.store(newValue.word, ordering: .relaxed) }
    }
  }

  /// Allocates `byteCount` bytes (at least 64), zeroed by default.
  ///
  /// The process ends if allocation fails. Use this initializer only for sizes that do not come from a file.
  package convenience init(byteCount: Int, zeroed: Bool = true) {
    do {
      try self.init(asking: byteCount, zeroed: zeroed)
    } catch {
      fatalError("\(error)")
    }
  }

  /// Like ``init(byteCount:zeroed:)``, but throws if a large allocation fails. Use this initializer for sizes that come
  /// from a file.
  ///
  /// - Throws: `outOfMemory` if a large allocation fails. If a small allocation fails, the process ends, as it does for
  ///   any small allocation in Swift.
  package init(asking byteCount: Int, zeroed: Bool = true) throws(AnimatedImageError) {
    let count = max(byteCount, 64)
    self.byteCount = count
    lender = nil
    origin = count >= PixelMemory.minimumByteCount ? .pixelMemory : .allocator
    if origin == .pixelMemory {
      guard let taken = unsafe PixelMemory.take(count) else { throw .noMemory(count) }
      unsafe base = taken.block
      if unsafe taken.isZeroed || !zeroed { return }
    } else {
      unsafe base = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
    }
    if zeroed { unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: count) }
  }

  /// Allocates a block of at least `byteCount` bytes for a picture of `size`.
  ///
  /// If `zeroed` is false, the caller must draw every pixel. The padding between the rows is zeroed in either case.
  package convenience init(
    asking byteCount: Int, for size: PixelSize, _ format: PixelFormat, zeroed: Bool
  ) throws(AnimatedImageError) {
    try self.init(asking: byteCount, zeroed: zeroed)
    if !zeroed { unsafe clearPadding(of: size, format: format) }
  }

  private init(
    byteCount: Int, taken: (block: UnsafeMutableRawPointer, isZeroed: Bool, stamp: PictureStamp)
  ) {
    self.byteCount = byteCount
    unsafe base = taken.block
    origin = .pixelMemory
    lender = nil
  }

  /// Creates a block that borrows read-only bytes from `lender`, which owns them.
  ///
  /// - Precondition: `bytes` are aligned to 64 bytes and stay in place as long as `lender` exists.
  @unsafe package init(lent bytes: UnsafeRawBufferPointer, by lender: any AnyObject & Sendable) {
    guard let start = bytes.baseAddress, UInt(bitPattern: start) % 64 == 0 else {
      preconditionFailure("a lent block that is not aligned")
    }
    unsafe base = UnsafeMutableRawPointer(mutating: start)
    byteCount = bytes.count
    origin = .lent
    self.lender = lender
  }

  /// Returns a block of `byteCount` bytes for the next picture of `canvas`, and the stamp of the picture that the block
  /// holds. A block that holds an earlier picture of the canvas is preferred. If the stamp identifies no picture, the
  /// contents of the block are unspecified.
  ///
  /// - Throws: The errors of ``init(asking:zeroed:)``.
  package static func next(
    _ byteCount: Int, of canvas: UInt64
  ) throws(AnimatedImageError) -> (storage: PixelStorage, earlier: PictureStamp) {
    guard byteCount >= PixelMemory.minimumByteCount else {
      return (try PixelStorage(asking: byteCount, zeroed: false), PictureStamp())
    }
    guard let taken = unsafe PixelMemory.take(byteCount, of: canvas) else {
      throw .noMemory(byteCount)
    }
    return unsafe (PixelStorage(byteCount: byteCount, taken: taken), taken.stamp)
  }

  deinit {
    switch origin {
    case .pixelMemory: unsafe PixelMemory.give(base, byteCount, holding: stamp)
    case .allocator: unsafe base.deallocate()
    case .lent: break
    }
  }

  /// The bytes of the block, for reading.
  package var bytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      let span = unsafe RawSpan(_unsafeStart: base, byteCount: byteCount)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Zeroes the padding between the rows of a picture of `size` that is about to be drawn in this block.
  ///
  /// The padding may contain bytes of another picture, which `Bitmap.bytes` would expose.
  ///
  /// - Precondition: The caller is the block's sole owner, and no other thread reads the block.
  @unsafe package func clearPadding(of size: PixelSize, format: PixelFormat) {
    let bytesPerRow = format.bytesPerRow(width: size.width)
    let drawn = size.width * format.bytesPerPixel
    guard drawn >= 0, drawn < bytesPerRow, size.height > 0 else { return }
    precondition(isWritable && byteCount >= bytesPerRow * size.height)
    for y in 0..<size.height {
      unsafe memset(base + y * bytesPerRow + drawn, 0, bytesPerRow - drawn)
    }
  }

  /// Copies `bytes` into the block at `offset`.
  ///
  /// - Precondition: The caller is the block's sole owner, and no other thread reads the block.
  @unsafe package func store(_ bytes: borrowing RawSpan, at offset: Int = 0) {
    precondition(isWritable && offset >= 0 && bytes.byteCount <= byteCount - offset)
    unsafe bytes.withUnsafeBytes { source in
      guard let from = source.baseAddress else { return }
      unsafe (base + offset).copyMemory(from: from, byteCount: source.count)
    }
  }

  /// The address of the first byte, which is valid as long as this object exists.
  @inlinable @unsafe package var baseAddress: UnsafeMutableRawPointer {
    // Inlined, because some loops over rows read the address in every iteration.
    @inline(__always) get { unsafe base }
  }
}

extension PixelBuffer {
  /// The bytes of the buffer, for writing. Rows start ``bytesPerRow`` bytes apart.
  package var mutableBytes: MutableRawSpan {
    @_lifetime(&self)
    mutating get {
      let span = unsafe MutableRawSpan(
        _unsafeStart: storage.baseAddress, byteCount: storage.byteCount)
      return unsafe _overrideLifetime(span, mutating: &self)
    }
  }

  /// Copies the pixels of `bitmap`, which must have the same size and format as this buffer.
  package mutating func copy(_ bitmap: Bitmap) {
    precondition(bitmap.size == size && bitmap.format == format)
    unsafe storage.store(bitmap.bytes)
  }

  /// Does the same as ``copy(_:)``, but throws `cancelled` once `isCancelled` returns true.
  package mutating func copy(
    _ bitmap: Bitmap, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    precondition(bitmap.size == size && bitmap.format == format)
    let all = PixelRect(size)
    for y in stride(from: 0, to: size.height, by: all.pollRows) {
      try all.poll(row: y, isCancelled)
      let end = min(y + all.pollRows, size.height)
      let band = bitmap.bytes.extracting(y * bytesPerRow..<end * bytesPerRow)
      unsafe storage.store(band, at: y * bytesPerRow)
    }
  }

  /// The address of the first byte, which is valid as long as this buffer, or the bitmap made from it, exists.
  @unsafe package var baseAddress: UnsafeMutableRawPointer { unsafe storage.baseAddress }
}
