package import SystemPackage
internal import ZoetropeShims

/// The bytes of a file where the system's cache holds them: nothing is copied.
///
/// A file that shrinks, or cannot be read, shows zeros and sets ``hasGap``; see `zt_mapping.h` for how
/// SIGBUS is kept from ending the process. Somebody may write to the file at any moment, so that a
/// byte read twice may have two values: readers check what they use, as the scanners do.
///
/// Unsafe code sits here so that `MappedReader` needs none: every range is clamped to the mapping,
/// which lives from `init` to `deinit`.
@safe
package final class FileMapping: @unchecked Sendable {
  // Sendable: neither property changes, the bytes are only read, and the calls below may be made by
  // several threads; the mapping ends in `deinit`, when nobody holds this object any more.
  private let start: UnsafePointer<UInt8>
  package let byteCount: Int

  /// Maps the first `byteCount` bytes of `file`; nil when the system cannot.
  package init?(_ file: FileDescriptor, byteCount: Int) {
    guard byteCount > 0, let start = unsafe zt_map(file.rawValue, byteCount) else { return nil }
    unsafe self.start = start
    self.byteCount = byteCount
  }

  /// Maps a whole table, whose pages need not be in memory; nil when the system cannot.
  package init?(table file: FileDescriptor, byteCount: Int) {
    guard byteCount > 0, let start = unsafe zt_map_table(file.rawValue, byteCount) else {
      return nil
    }
    unsafe self.start = start
    self.byteCount = byteCount
  }

  deinit { unsafe zt_unmap(start) }

  /// The bytes of `range` as read-only pixels, without a copy.
  ///
  /// - Parameter owner: Kept as long as the pixels; it keeps this mapping, and others from replacing
  ///   the bytes.
  /// - Precondition: The range lies in the mapping and starts at a multiple of 64.
  package func lend(_ range: Range<Int>, by owner: any AnyObject & Sendable) -> PixelStorage {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount)
    return unsafe PixelStorage(
      lent: UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count), by: owner)
  }

  /// The 64-bit word at `offset`, a multiple of 8, which others may be changing.
  package func word(at offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset & 7 == 0 && offset <= byteCount - 8)
    return unsafe UnsafeRawPointer(start).load(fromByteOffset: offset, as: UInt64.self)
  }

  /// The byte at `offset`, which others may be changing.
  package func byte(at offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < byteCount)
    return unsafe start[offset]
  }

  /// Whether zeros stand in for bytes that could not be had. It stays so.
  package var hasGap: Bool { unsafe zt_map_has_gap(start) }

  /// Gives `body` the bytes of `range`.
  package func withBytes<Result, Failure>(
    in range: Range<Int>, _ body: (borrowing RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let range = range.clamped(to: 0..<byteCount)
    let bytes = unsafe UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
    return try unsafe body(bytes.bytes)
  }

  /// As ``withBytes(in:_:)``, once most pages of `range` that are in memory are mapped, so that who looks
  /// at them afterwards hardly faults.
  func look<Result>(at range: Range<Int>, _ body: (borrowing RawSpan) -> Result) -> Result {
    let range = range.clamped(to: 0..<byteCount)
    unsafe zt_map_touch(start, range.lowerBound, range.upperBound)
    return unsafe body(
      UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count).bytes)
  }

  /// Takes pages out of the mapping that are not needed now. Both ends are multiples of a page.
  func release(_ range: Range<Int>) {
    let range = range.clamped(to: 0..<byteCount)
    unsafe zt_map_release(start, range.lowerBound, range.upperBound)
  }

  /// To be called by every thread before it looks at bytes: lets the guard's signal through.
  static func prepareThread() { zt_map_unblock() }
}
