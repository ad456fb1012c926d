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

  /// Inflates a zlib stream of about `expected` bytes to `out`, which has 64 bytes more than that.
  ///
  /// libdeflate gets the raw deflate data because a wrong Adler-32 costs nothing but itself.
  ///
  /// - Returns: The bytes written and what is to be said about the stream's end; nil when the data is
  ///   broken, cut or far too long, and `out` then holds anything.
  @unsafe
  func inflate(
    _ stream: UnsafeRawBufferPointer, into out: UnsafeMutableRawPointer, expected: Int
  ) -> (count: Int, end: PNGEnding.Fault)? {
    guard let decompressor = unsafe decompressor, let base = stream.baseAddress, stream.count > 2
    else { return nil }
    let method = unsafe base.load(as: UInt8.self)
    let flags = unsafe base.load(fromByteOffset: 1, as: UInt8.self)
    // Deflate, a window of at most 32 KB, the check bits, no preset dictionary.
    guard method & 15 == 8, method >> 4 <= 7, (Int(method) << 8 | Int(flags)) % 31 == 0,
      flags & 32 == 0
    else { return nil }

    var consumed = 0
    var written = 0
    let result = unsafe libdeflate_deflate_decompress_ex(
      decompressor, base + 2, stream.count - 2, out, expected + 32, &consumed, &written)
    guard result == LIBDEFLATE_SUCCESS else { return nil }
    let left = stream.count - 2 - consumed
    guard left >= 4 else { return (written, .noEnd) }
    let stored = unsafe UInt32(
      bigEndian: base.loadUnaligned(fromByteOffset: 2 + consumed, as: UInt32.self))
    guard unsafe libdeflate_adler32(1, out, written) == stored else { return (written, .adler) }
    return (written, written > expected || left > 4 ? .surplus : .none)
  }
}
