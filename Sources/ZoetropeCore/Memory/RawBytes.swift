internal import CXXHash
internal import Glibc

// Loads, comparisons, appends and hashes of bytes, and casts between vectors of equal size.
//
// Unsafe: the standard library marks `Span.bytes` and the loads of `RawSpan` as unsafe because a
// type may have padding or invalid bit patterns. The types here, integers and vectors of numbers,
// have neither, and every offset is checked, by the call or by a precondition. A literal's address
// and count come from the compiler, and it lives as long as the program. xxHash takes addresses: those of
// the bytes to hash are valid for the call; the state is freed by the only value that owns it; the secret
// is written before it is shared and freed with its owner.

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

  /// The number at `offset`, bounds-checked, in the machine's byte order; it need not be aligned.
  @inlinable package func load<Number: FixedWidthInteger & BitwiseCopyable>(
    _ type: Number.Type, at offset: Int
  ) -> Number {
    unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: type)
  }

  /// Whether both spans hold the same bytes.
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
  /// The numbers with the bits of `lanes`.
  @inlinable @inline(__always)
  package init(bits lanes: SIMD4<UInt32>) { self = unsafe unsafeBitCast(lanes, to: Self.self) }
}

extension SIMD4<UInt32> {
  /// The bits of `lanes`.
  @inlinable @inline(__always)
  package init(bitsOf lanes: SIMD4<Float>) { self = unsafe unsafeBitCast(lanes, to: Self.self) }
}

/// Computes an XXH3-128 hash incrementally.
///
/// xxHash allocates the state, which needs 64-byte alignment. This value is its only owner: it is
/// created in `init`, freed in `deinit`, and accessed only in `mutating` or consuming calls.
@safe
package struct ContentHasher: ~Copyable {
  private let state: OpaquePointer
  /// Retained because the state refers to its bytes; nil without a secret.
  private let secret: HashSecret?

  /// An empty hasher. Throws `outOfMemory` if allocating its state fails.
  package init() throws(AnimatedImageError) { try self.init(.process) }

  /// Like ``init()``, keyed with `secret`.
  package init(_ secret: HashSecret) throws(AnimatedImageError) {
    guard let state = unsafe XXH3_createState() else {
      throw AnimatedImageError(.outOfMemory, "not enough memory for a hash")
    }
    unsafe self.state = state
    self.secret = secret
    _ = unsafe XXH3_128bits_reset_withSecret(
      state, secret.bytes.baseAddress, secret.bytes.count)
  }

  /// An empty hasher without a secret; its results equal those of XXH3-128 with seed 0 in every program.
  package init(isStable: Void) throws(AnimatedImageError) {
    guard let state = unsafe XXH3_createState() else {
      throw AnimatedImageError(.outOfMemory, "not enough memory for a hash")
    }
    unsafe self.state = state
    secret = nil
    _ = unsafe XXH3_128bits_reset(state)
  }

  deinit { _ = unsafe XXH3_freeState(state) }

  /// Adds the next piece.
  package mutating func update(_ bytes: borrowing RawSpan) {
    _ = unsafe bytes.withUnsafeBytes { buffer in
      unsafe XXH3_128bits_update(state, buffer.baseAddress, buffer.count)
    }
  }

  /// The hash of all pieces so far.
  package var digest: (high: UInt64, low: UInt64) {
    let hash = unsafe XXH3_128bits_digest(state)
    return (hash.high64, hash.low64)
  }
}

/// The random bytes that key hashes, so that outsiders cannot construct two files that collide.
///
/// Safe to use from any thread while the object exists: the bytes are written before it is shared, only read
/// afterwards, and freed with it.
@safe
package final class HashSecret: Sendable {
  /// The secret of this process.
  package static let process = HashSecret(random())
  /// Twice the minimum that xxHash requires.
  package static let byteCount = 2 * Int(XXH3_SECRET_SIZE_MIN)

  // The pointer never changes, the bytes are written in `init` alone and freed in `deinit`, when no
  // reference is left.
  fileprivate nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

  /// - Precondition: `content` has ``byteCount`` bytes, all random.
  package init(_ content: [UInt8]) {
    precondition(content.count == Self.byteCount)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: content.count, alignment: 64)
    unsafe memory.copyBytes(from: content)
    unsafe bytes = UnsafeRawBufferPointer(memory)
  }

  deinit { unsafe bytes.deallocate() }

  package static func random() -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// The 128-bit hash of `data`.
  package func sum128(_ data: borrowing RawSpan) -> (high: UInt64, low: UInt64) {
    // The span's buffer is valid for the call; xxHash takes a nil address for no bytes.
    let hash = unsafe data.withUnsafeBytes { buffer in
      unsafe XXH3_128bits_withSecret(
        buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count)
    }
    return (hash.high64, hash.low64)
  }

  /// The 64-bit hash of `data`, used as a checksum.
  package func hash64(_ data: borrowing RawSpan) -> UInt64 {
    unsafe data.withUnsafeBytes { buffer in
      unsafe XXH3_64bits_withSecret(
        buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count)
    }
  }
}
