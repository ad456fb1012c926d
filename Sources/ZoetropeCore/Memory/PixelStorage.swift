internal import Glibc
internal import Synchronization

/// A block of memory aligned to 64 bytes, zeroed when made, freed with its last owner; or a part of a
/// read-only mapping, lent for as long as this object lives.
///
/// Unsafe code sits here so that ``Bitmap`` and `PixelBuffer` need none: the block is `byteCount`
/// bytes long and lives exactly as long as this object, and every access below borrows the object.
@safe
package final class PixelStorage: @unchecked Sendable {
  // Sendable: written only by its one owner (a `PixelBuffer`, whoever holds a `FramePixels`, a scratch
  // block of a decoder or scaler) or by a `Canvas` with the sole reference; shared, it is only read.
  // A lent block is never written: `Canvas`, the one place that takes over a block it did not make, asks
  // `isWritable` first, and the pages are mapped without write permission.
  @usableFromInline let base: UnsafeMutableRawPointer
  /// Bytes in the block.
  package let byteCount: Int
  private let origin: Origin
  /// Keeps a lent block where it is.
  private let lender: (any AnyObject & Sendable)?

  private enum Origin { case allocator, pixelMemory, lent }

  /// Whether the bytes may be changed by a sole owner.
  package var isWritable: Bool { origin != .lent }

  /// Which picture the block holds. Atomic, since a canvas writes it while bitmaps share the block.
  private let stampWord = Atomic<UInt64>(0)

  package var stamp: PictureStamp {
    get { PictureStamp(word: stampWord.load(ordering: .relaxed)) }
    set {
      // Mostly it is there already, and reading leaves the cache line to other readers.
      if newValue != stamp { stampWord.store(newValue.word, ordering: .relaxed) }
    }
  }

  /// Allocates `byteCount` bytes (at least 64); zeroes them unless told not to.
  ///
  /// For blocks whose size no file decides: without memory the process ends.
  package convenience init(byteCount: Int, zeroed: Bool = true) {
    do {
      try self.init(asking: byteCount, zeroed: zeroed)
    } catch {
      fatalError("\(error)")
    }
  }

  /// As ``init(byteCount:zeroed:)``, for sizes that a file asks for.
  ///
  /// - Throws: `limitExceeded` when the system has no memory for a large block; a small one ends the
  ///   process, as every other small allocation does.
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

  private init(
    byteCount: Int, taken: (block: UnsafeMutableRawPointer, isZeroed: Bool, stamp: PictureStamp)
  ) {
    self.byteCount = byteCount
    unsafe base = taken.block
    origin = .pixelMemory
    lender = nil
  }

  /// A block that `lender` owns; it is only read.
  ///
  /// - Precondition: `bytes` are aligned to 64 and stay in place while `lender` lives.
  @unsafe init(lent bytes: UnsafeRawBufferPointer, by lender: any AnyObject & Sendable) {
    guard let start = bytes.baseAddress, UInt(bitPattern: start) % 64 == 0 else {
      preconditionFailure("a lent block that is not aligned")
    }
    unsafe base = UnsafeMutableRawPointer(mutating: start)
    byteCount = bytes.count
    origin = .lent
    self.lender = lender
  }

  /// A block of `byteCount` bytes with anything in it, for the next picture of a canvas; if there is
  /// one that holds an earlier picture, that one, and which picture that is.
  ///
  /// - Throws: As ``init(asking:zeroed:)``.
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

  /// The bytes, read-only.
  package var bytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      let span = unsafe RawSpan(_unsafeStart: base, byteCount: byteCount)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// Zeroes the bytes between the rows of a picture of `size` that is about to be drawn here.
  ///
  /// The block may have held another picture, and `Bitmap.bytes` hands these bytes out as well.
  package func clearPadding(of size: PixelSize, format: PixelFormat) {
    let bytesPerRow = format.bytesPerRow(width: size.width)
    let drawn = size.width * format.bytesPerPixel
    guard drawn >= 0, drawn < bytesPerRow, size.height > 0 else { return }
    precondition(byteCount >= bytesPerRow * size.height)
    for y in 0..<size.height {
      unsafe memset(base + y * bytesPerRow + drawn, 0, bytesPerRow - drawn)
    }
  }

  /// The address of the first byte; valid while this object lives.
  @inlinable @unsafe package var baseAddress: UnsafeMutableRawPointer { unsafe base }
}
