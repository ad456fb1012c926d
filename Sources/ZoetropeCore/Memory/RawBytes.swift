internal import Glibc

// Loads, comparisons, appends and hashes of bytes, and casts between vectors of equal size.
//
// Unsafe: the standard library marks `Span.bytes` and the loads of `RawSpan` as unsafe because a type may have padding
// or invalid bit patterns. The types here, integers and vectors of numbers, have neither, and every offset is checked
// by the call or by a precondition. A literal's address and count come from the compiler, and the literal lives as long
// as the program. xxHash takes addresses: the bytes to hash are valid for the call, the state is freed by the only
// value that owns it, and the secret is written before it is shared and freed with its owner.

extension Array where Element: FixedWidthInteger & BitwiseCopyable {
  /// The array's bytes.
  @inlinable package var rawBytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get { unsafe span.bytes }
  }
}

extension Span where Element: FixedWidthInteger & BitwiseCopyable {
  /// The numbers' bytes, in the machine's byte order.
  @inlinable package var rawBytes: RawSpan {
    @_lifetime(copy self)
    get { unsafe bytes }
  }
}

extension [UInt8] {
  /// Appends a copy of `bytes`.
  package mutating func append(copying bytes: borrowing RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }

  /// Appends the bytes of a literal.
  @inlinable @inline(__always)
  package mutating func append(copying text: StaticString) {
    unsafe append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

extension RawSpan {
  /// The byte at `offset`, bounds-checked.
  @inlinable package subscript(offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < byteCount)
    return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// Returns the number at `offset`, bounds-checked and in the machine's byte order. The offset need not be aligned.
  @inlinable package func load<Number: FixedWidthInteger & BitwiseCopyable>(
    _ type: Number.Type, at offset: Int
  ) -> Number {
    unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: type)
  }

  /// Returns whether both spans contain the same bytes.
  package func hasSameBytes(as other: borrowing RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    return unsafe withUnsafeBytes { left in
      unsafe other.withUnsafeBytes { right in
        guard let left = left.baseAddress, let right = right.baseAddress else { return true }
        return unsafe memcmp(left, right, byteCount) == 0
      }
    }
  }
}

extension SIMD4<Float> {
  /// Creates a vector with the bits of `lanes`.
  @inlinable @inline(__always)
  package init(bits lanes: SIMD4<UInt32>) { self = unsafe unsafeBitCast(lanes, to: Self.self) }
}

extension SIMD4<UInt32> {
  /// Creates a vector with the bits of `lanes`.
  @inlinable @inline(__always)
  package init(bitsOf lanes: SIMD4<Float>) { self = unsafe unsafeBitCast(lanes, to: Self.self) }
}
