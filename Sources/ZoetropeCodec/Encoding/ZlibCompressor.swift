internal import CDeflate

/// libdeflate's compressor for whole buffers, kept for the next one; zlib streams.
///
/// Unsafe code: the library is given lengths that are checked against both buffers here, and it
/// never writes past the room it is told of.
@safe
package final class ZlibCompressor {
  private let compressor: OpaquePointer

  /// Nil when there is no memory for it.
  package init?(level: Int) {
    guard let made = unsafe libdeflate_alloc_compressor(Int32(level)) else { return nil }
    unsafe compressor = made
  }

  deinit { unsafe libdeflate_free_compressor(compressor) }

  /// The room that ``compress(_:range:into:)`` may need for `count` bytes.
  func bound(_ count: Int) -> Int {
    unsafe libdeflate_zlib_compress_bound(compressor, count)
  }

  /// Compresses `range` of `source` to the start of `target`; gives the bytes written, or 0 when
  /// they do not fit.
  func compress(_ source: PixelStorage, range: Range<Int>, into target: PixelStorage) -> Int {
    precondition(range.lowerBound >= 0 && range.upperBound <= source.byteCount)
    return unsafe libdeflate_zlib_compress(
      compressor, source.baseAddress + range.lowerBound, range.count, target.baseAddress,
      target.byteCount)
  }

  /// The zlib stream of `bytes`, such as a text or a colour profile; empty only without memory.
  package func compress(_ bytes: [UInt8]) -> [UInt8] {
    let room = bound(bytes.count)
    return unsafe [UInt8](unsafeUninitializedCapacity: room) { target, count in
      unsafe bytes.withUnsafeBytes { source in
        unsafe count = libdeflate_zlib_compress(
          compressor, source.baseAddress, source.count, target.baseAddress, room)
      }
    }
  }
}
