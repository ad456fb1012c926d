internal import CDeflate

/// libdeflate's decompressor, and the checks of the zlib wrapper, which it is not given.
///
/// Unsafe code: the decompressor is freed with this object, and the pointers of a call are used in it
/// only.
@safe
final class Inflater: @unchecked Sendable {
  // Sendable: a decoder owns it and is used by one thread at a time; copies of a decoder share it,
  // and each thread makes its own.
  private let decompressor: OpaquePointer?

  init() { unsafe decompressor = libdeflate_alloc_decompressor() }

  deinit { unsafe libdeflate_free_decompressor(decompressor) }

  /// What came of a stream.
  enum Outcome {
    /// The data is right: the bytes written, and whether there was more than was asked for.
    case inflated(count: Int, hasSurplus: Bool)
    /// The data inflates but its checksum is wrong: it may hold codes that zlib refuses.
    case wrongChecksum
    /// The data is broken, cut or far too long.
    case refused
  }

  /// Inflates a zlib stream of about `expected` bytes to `out`, which has 64 bytes more than that.
  ///
  /// libdeflate gets the raw deflate data, so that a wrong Adler-32 can be told from broken data. But
  /// only a right one proves the pixels: libdeflate takes the length codes 286 and 287 for others,
  /// where zlib stops. `out` holds anything unless the data is right.
  @unsafe
  func inflate(
    _ stream: UnsafeRawBufferPointer, into out: UnsafeMutableRawPointer, expected: Int
  ) -> Outcome {
    guard let decompressor = unsafe decompressor, let base = stream.baseAddress, stream.count > 2
    else { return .refused }
    let method = unsafe base.load(as: UInt8.self)
    let flags = unsafe base.load(fromByteOffset: 1, as: UInt8.self)
    // Deflate, a window of at most 32 KB, the check bits, no preset dictionary.
    guard method & 15 == 8, method >> 4 <= 7, (Int(method) << 8 | Int(flags)) % 31 == 0,
      flags & 32 == 0
    else { return .refused }

    var consumed = 0
    var written = 0
    let result = unsafe libdeflate_deflate_decompress_ex(
      decompressor, base + 2, stream.count - 2, out, expected + 32, &consumed, &written)
    let left = stream.count - 2 - consumed
    guard result == LIBDEFLATE_SUCCESS, left >= 4 else { return .refused }
    let stored = unsafe UInt32(
      bigEndian: base.loadUnaligned(fromByteOffset: 2 + consumed, as: UInt32.self))
    guard unsafe libdeflate_adler32(1, out, written) == stored else { return .wrongChecksum }
    return .inflated(count: written, hasSurplus: written > expected || left > 4)
  }
}
