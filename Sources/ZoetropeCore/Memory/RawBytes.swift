internal import Glibc

// Functions that load, compare and append bytes, and casts between vectors of equal size.
//
// Unsafe code: the standard library marks `Span.bytes` and the loads of `RawSpan` as unsafe, because a type may have
// padding or invalid bit patterns. The types used here, integers and vectors of numbers, have neither, and every offset
// is checked by the called function or by a precondition. The address and the count of a literal come from the
// compiler, and the literal exists as long as the program runs.

extension Array where Element: FixedWidthInteger & BitwiseCopyable {
  /// The bytes of the array's elements, in the machine's byte order.
  @inlinable package var rawBytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get { unsafe span.bytes }
  }
}

extension Span where Element: FixedWidthInteger & BitwiseCopyable {
  /// The bytes of the span's elements, in the machine's byte order.
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

  /// Appends the UTF-8 bytes of a string literal.
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
  /// Creates a vector of floating-point numbers from their bit patterns, `lanes`.
  @inlinable @inline(__always)
  package init(bits lanes: SIMD4<UInt32>) { self = unsafe unsafeBitCast(lanes, to: Self.self) }
}

extension SIMD4<UInt32> {
  /// Creates a vector of the bit patterns of the numbers in `lanes`.
  @inlinable @inline(__always)
  package init(bitsOf lanes: SIMD4<Float>) { self = unsafe unsafeBitCast(lanes, to: Self.self) }
}
