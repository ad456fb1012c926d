internal import CDeflate
internal import Synchronization
internal import ZoetropeShims

// libdeflate: raw and zlib streams, and checksums.
//
// zlib takes over where a stream does not end.
//
// Unsafe: the libraries take addresses and lengths. Every call below passes those of a span or block
// that outlives it, with lengths checked here, and the library writes no further than the given
// length.

/// The CRC-32 of PNG chunks (PNG 3rd edition, 5.3).
package enum CRC32 {
  /// The CRC-32 of `bytes`, a chunk's type and data, or a part of them behind what has the checksum `sum`.
  package static func of(_ bytes: ArraySlice<UInt8>, after sum: UInt32 = 0) -> UInt32 {
    unsafe of(bytes.span.bytes, after: sum)
  }

  /// The CRC-32 of `bytes` that follow the bytes with checksum `sum`.
  package static func of(_ bytes: borrowing RawSpan, after sum: UInt32 = 0) -> UInt32 {
    unsafe bytes.withUnsafeBytes { bytes in
      // Given no address, the library returns its start value.
      guard let start = bytes.baseAddress else { return sum }
      return unsafe libdeflate_crc32(sum, start, bytes.count)
    }
  }
}

/// The checksum of zlib streams.
enum Adler32 {
  static func of(_ source: PixelStorage, range: Range<Int>) -> UInt32 {
    precondition(range.lowerBound >= 0 && range.upperBound <= source.byteCount)
    return unsafe libdeflate_adler32(1, source.baseAddress + range.lowerBound, range.count)
  }
}

/// libdeflate's decompressor for the raw data, with the checks of the zlib wrapper done here.
@safe
final class Inflater: @unchecked Sendable {
  // Sendable: the decompressor is used by one thread at a time, which `isBusy` enforces; copies of
  // a decoder share it, and each thread creates its own decoder.
  private let decompressor: OpaquePointer?
  private let isBusy = Atomic<Bool>(false)

  init() { unsafe decompressor = libdeflate_alloc_decompressor() }

  deinit { unsafe libdeflate_free_decompressor(decompressor) }

  /// The result of inflating a stream.
  enum Outcome {
    /// The data is valid: the bytes written, and whether there were more than requested.
    case inflated(count: Int, hasSurplus: Bool)
    /// The data inflates, but its checksum is wrong: it may contain codes that zlib rejects.
    case wrongChecksum
    /// The data is malformed, truncated or far too long.
    case refused
  }

  /// Inflates a zlib stream of about `expected` bytes into `storage` from `offset` on, where at
  /// least 64 more bytes must be available.
  ///
  /// libdeflate gets the raw deflate data, so that a wrong Adler-32 can be told from malformed
  /// data. Only a right one proves the pixels: libdeflate accepts the reserved length codes 286 and
  /// 287, where zlib stops. Unless the data is valid, the storage's contents are unspecified.
  func inflate(
    _ stream: borrowing RawSpan, into storage: PixelStorage, at offset: Int, expected: Int
  ) -> Outcome {
    precondition(offset >= 0 && expected >= 0 && storage.byteCount - offset - 64 >= expected)
    precondition(!isBusy.exchange(true, ordering: .acquiring), "two threads use one decoder")
    defer { isBusy.store(false, ordering: .releasing) }
    return unsafe stream.withUnsafeBytes { stream in
      unsafe inflate(stream, into: storage.baseAddress + offset, expected: expected)
    }
  }

  @unsafe
  private func inflate(
    _ stream: UnsafeRawBufferPointer, into out: UnsafeMutableRawPointer, expected: Int
  ) -> Outcome {
    guard let decompressor = unsafe decompressor, let base = stream.baseAddress, stream.count > 2
    else { return .refused }
    let method = unsafe base.load(as: UInt8.self)
    let flags = unsafe base.load(fromByteOffset: 1, as: UInt8.self)
    // Deflate, a window of at most 32 KB, valid check bits, no preset dictionary.
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

extension Inflater {
  /// The result of inflating what there is of a stream.
  enum PartialOutcome {
    /// The stream has no end: the bytes that it yields.
    case cut(count: Int)
    /// As many bytes as requested, and the bytes of the stream that were not read.
    case full(unread: Int)
    /// The stream has ended before, or is malformed.
    case other
  }

  /// Inflates a zlib stream into `storage` from `offset` on as far as it goes, at most `expected` bytes.
  ///
  /// With zlib, which is slower, but libdeflate does not tell how much of what it wrote is right. Of a
  /// stream without an end, as many of `rows` count as libpng reads. The checksum is not verified.
  static func inflatePart(
    _ stream: borrowing RawSpan, into storage: PixelStorage, at offset: Int, expected: Int,
    rows: PNGStoredRows
  ) -> PartialOutcome {
    precondition(offset >= 0 && expected > 0 && storage.byteCount - offset >= expected)
    return unsafe stream.withUnsafeBytes { stream in
      guard let base = stream.baseAddress else { return .other }
      let result = unsafe zt_inflate(
        base.assumingMemoryBound(to: UInt8.self), stream.count,
        (storage.baseAddress + offset).assumingMemoryBound(to: UInt8.self), expected,
        rows.byteCount, rows.start)
      return switch result.end {
      case ZT_INFLATE_CUT: .cut(count: result.written)
      case ZT_INFLATE_FULL: .full(unread: result.unread)
      default: .other
      }
    }
  }
}

/// Inflates small zlib streams of metadata, up to a limit.
enum Inflate {
  /// The inflated bytes; nil if the stream is damaged or larger than `limit`.
  static func zlib(_ bytes: ArraySlice<UInt8>, limit: Int) -> [UInt8]? {
    guard !bytes.isEmpty, let decompressor = unsafe libdeflate_alloc_decompressor() else {
      return nil
    }
    defer { unsafe libdeflate_free_decompressor(decompressor) }
    // Deflate expands data at most 1,032 times, so the guesses end even without a limit.
    let ceiling = min(limit, bytes.count.multipliedReportingOverflow(by: 1032).partialValue)
    var capacity = min(max(bytes.count * 4, 256), ceiling)
    while true {
      var status = LIBDEFLATE_INSUFFICIENT_SPACE
      let inflated = unsafe [UInt8](unsafeUninitializedCapacity: max(capacity, 1)) {
        output, count in
        // The input buffer outlives the call; libdeflate writes at most `capacity` bytes.
        unsafe bytes.withUnsafeBytes { input in
          unsafe status = libdeflate_zlib_decompress(
            decompressor, input.baseAddress, input.count, output.baseAddress, capacity, &count)
        }
        if status != LIBDEFLATE_SUCCESS { count = 0 }
      }
      if status == LIBDEFLATE_SUCCESS { return inflated }
      guard status == LIBDEFLATE_INSUFFICIENT_SPACE, capacity < ceiling else { return nil }
      capacity = min(capacity * 2, ceiling)
    }
  }
}

/// libdeflate's compressor for whole buffers, reusable; writes zlib streams.
@safe
package final class ZlibCompressor {
  private let compressor: OpaquePointer

  /// Nil if allocation fails.
  package init?(level: Int) {
    guard let made = unsafe libdeflate_alloc_compressor(Int32(level)) else { return nil }
    unsafe compressor = made
  }

  deinit { unsafe libdeflate_free_compressor(compressor) }

  /// The room that ``compress(_:range:into:)`` may need for `count` bytes.
  func bound(_ count: Int) -> Int {
    unsafe libdeflate_zlib_compress_bound(compressor, count)
  }

  /// Compresses `range` of `source` to the start of `target`; returns the bytes written, or 0 if
  /// they do not fit.
  func compress(_ source: PixelStorage, range: Range<Int>, into target: PixelStorage) -> Int {
    precondition(range.lowerBound >= 0 && range.upperBound <= source.byteCount)
    return unsafe libdeflate_zlib_compress(
      compressor, source.baseAddress + range.lowerBound, range.count, target.baseAddress,
      target.byteCount)
  }

  /// The zlib stream of `bytes`, such as a text or a colour profile; empty only if allocation
  /// fails.
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

/// The compressors of one encoder, one per level used.
///
/// Created on demand: that of level 8 takes several megabytes, which most pictures never need.
final class CompressorSet {
  private var made: [Int: ZlibCompressor] = [:]

  func compressor(level: Int) throws(AnimatedImageError) -> ZlibCompressor {
    if let compressor = made[level] { return compressor }
    guard let compressor = ZlibCompressor(level: level) else {
      throw AnimatedImageError(.outOfMemory, "no memory to compress a picture")
    }
    made[level] = compressor
    return compressor
  }
}
