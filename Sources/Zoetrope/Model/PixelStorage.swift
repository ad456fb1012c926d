/// A block of memory aligned to 64 bytes, zeroed when made, freed with its last owner.
///
/// Unsafe code sits here so that ``Bitmap`` and `PixelBuffer` need none: the block is `byteCount`
/// bytes long and lives exactly as long as this object, and every access below borrows the object.
@safe
package final class PixelStorage: @unchecked Sendable {
  // Sendable: written only through `PixelBuffer` or a `Canvas` that holds the sole reference
  // (checked by `isKnownUniquelyReferenced`); once a `Bitmap` shares it, it is only read.
  private let base: UnsafeMutableRawPointer
  /// Bytes in the block.
  package let byteCount: Int
  /// Whether the block came from `PixelMemory`.
  private let isMapped: Bool

  /// Allocates `byteCount` bytes (at least 64); zeroes them unless told not to.
  package init(byteCount: Int, zeroed: Bool = true) {
    let count = max(byteCount, 64)
    self.byteCount = count
    if count >= PixelMemory.minimumByteCount, let taken = unsafe PixelMemory.take(count) {
      unsafe base = taken.block
      isMapped = true
      if zeroed, unsafe !taken.isZeroed {
        unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: count)
      }
      return
    }
    isMapped = false
    unsafe base = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
    if zeroed { unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: count) }
  }

  deinit {
    if isMapped {
      unsafe PixelMemory.give(base, byteCount)
    } else {
      unsafe base.deallocate()
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

  /// The address of the first byte; valid while this object lives.
  @unsafe package var baseAddress: UnsafeMutableRawPointer { unsafe base }
}
