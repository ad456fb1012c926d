internal import CDeflate
internal import Synchronization

/// Compresses into zlib streams with libdeflate.
///
/// One compressor (about a megabyte) is made on first use and kept; a lock lets copies of an encoder
/// share it, and such copies do not work at the same time, so it is never waited for.
final class Deflater: Sendable {
  /// Owns one compressor of libdeflate: made here, freed here, never handed out.
  @safe
  private struct Compressor: ~Copyable {
    private let handle: OpaquePointer?

    init(level: Int32) { unsafe handle = libdeflate_alloc_compressor(level) }

    deinit { unsafe libdeflate_free_compressor(handle) }

    func compress(_ bytes: [UInt8]) -> [UInt8]? {
      guard let handle = unsafe handle else { return nil }
      let bound = unsafe libdeflate_zlib_compress_bound(handle, bytes.count)
      // The output has room for `bound` bytes, which libdeflate promises is enough.
      let compressed = unsafe [UInt8](unsafeUninitializedCapacity: bound) { output, count in
        unsafe bytes.withUnsafeBytes { input in
          unsafe count = libdeflate_zlib_compress(
            handle, input.baseAddress, input.count, output.baseAddress, bound)
        }
      }
      return compressed.isEmpty ? nil : compressed
    }
  }

  private let compressor: Mutex<Compressor>

  /// A compressor of libdeflate's `level`, 1 to 12.
  init(level: Int32) { compressor = Mutex(Compressor(level: level)) }

  /// The bytes as a zlib stream; nil only when memory ran out.
  func zlib(_ bytes: [UInt8]) -> [UInt8]? {
    compressor.withLock { $0.compress(bytes) }
  }

  /// The CRC-32 that PNG chunks carry.
  static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe libdeflate_crc32(0, $0.baseAddress, $0.count) }
  }
}
