internal import CDeflate
internal import Synchronization
internal import ZoetropeShims

// The functions of libdeflate, zlib, libpng and giflib that the codecs use, with checked arguments.
//
// Unsafe: the libraries take addresses and lengths. Every call below passes the address of a span or block that
// outlives the call, and a length that is checked here, and the library writes no further than that length. An address
// is stored only by an object that also keeps the memory at this address alive.

/// The CRC-32 of PNG chunks (PNG 3rd edition, 5.3).
package enum CRC32 {
  /// Returns the CRC-32 of some data followed by `bytes`, such as a chunk's type and data.
  ///
  /// - Parameter sum: The CRC-32 of the data before `bytes`. Default: 0, the CRC-32 of no bytes.
  package static func of(_ bytes: ArraySlice<UInt8>, after sum: UInt32 = 0) -> UInt32 {
    unsafe of(bytes.span.bytes, after: sum)
  }

  /// Returns the CRC-32 of some data followed by `bytes`.
  ///
  /// - Parameter sum: The CRC-32 of the data before `bytes`. Default: 0, the CRC-32 of no bytes.
  package static func of(_ bytes: borrowing RawSpan, after sum: UInt32 = 0) -> UInt32 {
    unsafe bytes.withUnsafeBytes { bytes in
      // If the address were nil, libdeflate would return its initial value instead of `sum`.
      guard let start = bytes.baseAddress else { return sum }
      return unsafe libdeflate_crc32(sum, start, bytes.count)
    }
  }
}

/// The Adler-32 checksum of zlib streams.
enum Adler32 {
  static func of(_ source: PixelStorage, range: Range<Int>) -> UInt32 {
    precondition(range.lowerBound >= 0 && range.upperBound <= source.byteCount)
    return unsafe libdeflate_adler32(1, source.baseAddress + range.lowerBound, range.count)
  }
}

/// A zlib decompressor that uses libdeflate for the raw Deflate data and checks the zlib wrapper itself.
///
/// Copies of a frame decoder share one inflater. Each thread creates its own frame decoder, so the inflater's lock is
/// never contended.
@safe
final class Inflater: Sendable {
  // The pointer never changes. Its target is used only under the lock and freed in `deinit`, when no reference is left.
  private nonisolated(unsafe) let decompressor = unsafe libdeflate_alloc_decompressor()
  private let lock = Mutex(())

  deinit { unsafe libdeflate_free_decompressor(decompressor) }

  /// The result of inflating a stream.
  enum Outcome {
    /// The data is valid. `count` is the number of bytes written. `hasSurplus` is true if more bytes than expected were
    /// written, or if further bytes follow the checksum.
    case inflated(count: Int, hasSurplus: Bool)
    /// The data was inflated, but the checksum is wrong. The data may contain codes that zlib rejects.
    case wrongChecksum
    /// The data is malformed or truncated, or inflates to over 32 bytes more than expected.
    case refused
  }

  /// Inflates a zlib stream into `storage` from `offset` on. `expected` is the number of bytes that the stream should
  /// yield. The storage must have room for 64 bytes more than that.
  ///
  /// libdeflate receives only the raw Deflate data, so that a wrong Adler-32 can be distinguished from malformed data.
  /// Only a correct Adler-32 proves that the pixels are right, because libdeflate accepts the reserved length codes 286
  /// and 287, at which zlib stops. Unless the outcome is `inflated`, the contents of the storage are unspecified.
  func inflate(
    _ stream: borrowing RawSpan, into storage: PixelStorage, at offset: Int, expected: Int
  ) -> Outcome {
    precondition(offset >= 0 && expected >= 0 && storage.byteCount - offset - 64 >= expected)
    return unsafe stream.withUnsafeBytes { stream in
      lock.withLock { _ in
        unsafe inflate(stream, into: storage.baseAddress + offset, expected: expected)
      }
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
    // Accept only Deflate data with a window of at most 32 KB, valid check bits and no preset dictionary.
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
  /// The result of inflating the available part of a stream.
  enum PartialOutcome {
    /// The available part ends before the stream does. `count` is the number of valid bytes that were written.
    case cut(count: Int)
    /// All requested bytes were written. `unread` is the number of bytes of the stream that were not read.
    case full(unread: Int)
    /// The stream ends before it has yielded all requested bytes, or is malformed.
    case other
  }

  /// Inflates as much of a zlib stream as possible into `storage` from `offset` on. `expected` is the maximum number of
  /// bytes to write.
  ///
  /// Uses zlib, which is slower than libdeflate but reports how much of its output is valid. If the available part ends
  /// before the stream does, the result counts only the rows that libpng would read; `rows` says where they lie. The
  /// checksum is not verified.
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

/// Inflates the small zlib streams of metadata, up to a limit.
enum Inflate {
  /// Returns the inflated bytes of a zlib stream, or nil if the stream is damaged or inflates to more than `limit`
  /// bytes.
  static func zlib(_ bytes: ArraySlice<UInt8>, limit: Int) -> [UInt8]? {
    guard !bytes.isEmpty, let decompressor = unsafe libdeflate_alloc_decompressor() else {
      return nil
    }
    defer { unsafe libdeflate_free_decompressor(decompressor) }
    // Deflate expands data at most 1,032 times, so the capacity stops growing even without a limit.
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

/// A reusable compressor that turns whole buffers into zlib streams. It uses libdeflate.
@safe
package final class ZlibCompressor {
  private let compressor: OpaquePointer

  /// Creates a compressor, or returns nil if allocation fails.
  package init?(level: Int) {
    guard let made = unsafe libdeflate_alloc_compressor(Int32(level)) else { return nil }
    unsafe compressor = made
  }

  deinit { unsafe libdeflate_free_compressor(compressor) }

  /// Returns the maximum number of bytes that ``compress(_:range:into:)`` writes for a range of `count` bytes.
  func bound(_ count: Int) -> Int {
    unsafe libdeflate_zlib_compress_bound(compressor, count)
  }

  /// Compresses the bytes of `source` in `range` and writes the result to the start of `target`. Returns the number of
  /// bytes written, or 0 if the result does not fit.
  func compress(_ source: PixelStorage, range: Range<Int>, into target: PixelStorage) -> Int {
    precondition(range.lowerBound >= 0 && range.upperBound <= source.byteCount)
    return unsafe libdeflate_zlib_compress(
      compressor, source.baseAddress + range.lowerBound, range.count, target.baseAddress,
      target.byteCount)
  }

  /// Compresses `bytes`, such as a text or a colour profile, and returns the zlib stream.
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
/// Compressors are created on demand: the compressor for level 8 takes several megabytes, and most pictures never need
/// it.
final class CompressorSet {
  private var made: [Int: ZlibCompressor] = [:]

  func compressor(level: Int) throws(AnimatedImageError) -> ZlibCompressor {
    if let compressor = made[level] { return compressor }
    guard let compressor = ZlibCompressor(level: level) else {
      throw AnimatedImageError(.outOfMemory, "not enough memory to compress a picture")
    }
    made[level] = compressor
    return compressor
  }
}

/// Functions that decode frames with libpng. They call C functions of this package, because libpng reports errors by
/// `longjmp`.
enum LibpngDecoder {
  /// Decodes a zlib stream into `pixels`, whose width and height give the frame's size.
  ///
  /// The rows are stored from the start of the storage on, in ``FramePixels/Layout/rgba8``, or in
  /// ``FramePixels/Layout/rgba16`` if the file has 16 bits per sample and `keeps16Bit` is true.
  static func decode(
    _ stream: borrowing RawSpan, header: ImageHeader, keeps16Bit: Bool,
    into pixels: FramePixels
  ) -> Result<PNGFrameOutcome, AnimatedImageError> {
    let room: Room
    do { room = try makeRoom(header, keeps16Bit, in: pixels) } catch { return .failure(error) }
    let result = unsafe stream.withUnsafeBytes { stream in
      unsafe withRequest(header, room, keeps16Bit) { request in
        unsafe request.data = stream.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe request.data_count = stream.count
        let storage = pixels.storage
        return unsafe zoetrope_png_decode(
          &request, storage.baseAddress.assumingMemoryBound(to: UInt8.self), room.rowBytes,
          storage.byteCount)
      }
    }
    if result.code == ZOETROPE_PNG_MEMORY {
      return .failure(
        AnimatedImageError(.outOfMemory, "not enough memory for libpng", format: header.format))
    }
    pixels.content.validPixels = Int(result.rows) * pixels.content.width
    pixels.content.isOpaque = header.isOpaquePNG
    return .success(
      PNGFrameOutcome(fault: fault(result.code), rows: Int(result.rows), message: text(result)))
  }

  /// The dimensions of a frame, in the types of libpng's parameters.
  fileprivate typealias Room = (rowBytes: Int, width: UInt32, height: UInt32)

  /// Reserves space in `pixels` for the rows of a frame that has the width and height of `pixels`.
  fileprivate static func makeRoom(
    _ header: ImageHeader, _ keeps16Bit: Bool, in pixels: FramePixels
  ) throws(AnimatedImageError) -> Room {
    let isDeep = keeps16Bit && header.bitDepth == 16
    pixels.content.layout = isDeep ? .rgba16 : .rgba8
    pixels.content.offset = 0
    let (rowBytes, isWide) = pixels.content.width.multipliedReportingOverflow(by: isDeep ? 8 : 4)
    let (byteCount, isLarge) = rowBytes.multipliedReportingOverflow(by: pixels.content.height)
    guard !isWide, !isLarge, let width = UInt32(exactly: pixels.content.width),
      let height = UInt32(exactly: pixels.content.height)
    else {
      throw AnimatedImageError(
        .outOfMemory, "not enough memory for a frame of this size", format: header.format)
    }
    pixels.content.bytesPerRow = rowBytes
    try pixels.reserve(byteCount: byteCount)
    return (rowBytes, width, height)
  }

  /// Calls `body` with a request to decode a frame. All fields of the request are set except the frame's data.
  @unsafe fileprivate static func withRequest<Result>(
    _ header: ImageHeader, _ room: Room, _ keeps16Bit: Bool,
    _ body: (inout zoetrope_png_request) -> Result
  ) -> Result {
    let palette = paletteBytes(header)
    let transparency = transparencyBytes(header)
    return unsafe palette.withUnsafeBufferPointer { palette in
      unsafe transparency.withUnsafeBufferPointer { transparency in
        var request = unsafe zoetrope_png_request(
          width: room.width, height: room.height, bit_depth: header.bitDepth,
          color_type: header.colorType, interlace: header.isInterlaced ? 1 : 0,
          keeps_16_bit: keeps16Bit, palette: palette.baseAddress,
          palette_count: palette.count / 3, transparency: transparency.baseAddress,
          transparency_count: transparency.count, data: nil, data_count: 0,
          memory_limit: memoryLimit(width: Int(room.width)))
        return unsafe body(&request)
      }
    }
  }

  // libpng allocates a few rows of at most 8 bytes per pixel, and zlib about 50 KB.
  private static func memoryLimit(width: Int) -> Int { 4 << 20 + width * 64 }

  private static func fault(_ code: zoetrope_png_code) -> PNGFrameOutcome.Fault {
    switch code {
    case ZOETROPE_PNG_COMPLETE: .none
    case ZOETROPE_PNG_NO_END: .noEnd
    case ZOETROPE_PNG_SURPLUS: .surplus
    case ZOETROPE_PNG_SHORT: .short
    case ZOETROPE_PNG_FILTER: .filter
    default: .stream
    }
  }

  private static func text(_ result: zoetrope_png_result) -> String {
    unsafe withUnsafeBytes(of: result.message) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// Returns the contents of a PLTE chunk with a colour for each index that the bit depth allows. The colours of
  /// indices past the file's palette are black.
  private static func paletteBytes(_ header: ImageHeader) -> [UInt8] {
    guard header.colorType == 3 else { return [] }
    return (0..<1 << min(Int(header.bitDepth), 8)).flatMap { index in
      index < header.palette.count ? header.palette[index].rgbBytes : [0, 0, 0]
    }
  }

  /// Returns the contents of a tRNS chunk. For palette images, these are the alphas of the palette. For grey and RGB
  /// images, they are the contents of the file's own chunk if it has the right length. Otherwise they are empty.
  private static func transparencyBytes(_ header: ImageHeader) -> [UInt8] {
    switch header.colorType {
    case 3 where header.palette.contains { $0 >> 24 != 255 }:
      header.palette.prefix(1 << min(Int(header.bitDepth), 8)).map { UInt8($0 >> 24) }
    case 0 where header.transparency.count == 2, 2 where header.transparency.count == 6:
      header.transparency
    default: []
    }
  }
}

/// libpng's progressive reader for one frame, which decodes each byte once, as it arrives.
///
/// The C object writes to the storage of the frame's pixels. This object keeps that storage alive.
@safe
final class LibpngArrival {
  private let arrival: OpaquePointer
  private let storage: PixelStorage

  /// Reserves space in `pixels` and starts reading. The width and height of `pixels` give the frame's size.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  init(
    _ header: ImageHeader, keeps16Bit: Bool, into pixels: FramePixels
  ) throws(AnimatedImageError) {
    let room = try LibpngDecoder.makeRoom(header, keeps16Bit, in: pixels)
    let storage = pixels.storage
    let arrival = unsafe LibpngDecoder.withRequest(header, room, keeps16Bit) { request in
      unsafe zoetrope_png_arrive(
        &request, storage.baseAddress.assumingMemoryBound(to: UInt8.self), room.rowBytes,
        storage.byteCount)
    }
    guard let arrival = unsafe arrival else {
      throw AnimatedImageError(.outOfMemory, "not enough memory for libpng", format: header.format)
    }
    unsafe self.arrival = arrival
    self.storage = storage
  }

  deinit { unsafe zoetrope_png_leave(arrival) }

  /// Decodes the next bytes of the zlib stream. Returns the progress so far, and whether later bytes will have no
  /// effect.
  func feed(_ bytes: borrowing RawSpan) -> (progress: ArrivalProgress, isOver: Bool) {
    let found = unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else {
        return unsafe zoetrope_png_feed(arrival, [], 0)
      }
      return unsafe zoetrope_png_feed(
        arrival, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
    let progress = ArrivalProgress(
      completeRows: Int(found.rows), shownRows: Int(found.shown_rows),
      completePasses: Int(found.passes))
    return (progress, found.is_over)
  }
}

/// giflib's own decompressor.
enum Giflib {
  /// Decodes `frame`, the bytes of a whole image with its block structure, and writes the rows to `storage`, starting
  /// at its beginning. `size` is the size of the picture. Returns the number of rows decoded.
  static func expand(_ frame: [UInt8], into storage: PixelStorage, _ size: PixelSize) -> Int {
    // giflib writes at most one byte per pixel.
    precondition(storage.isWritable && storage.byteCount >= size.area)
    return unsafe frame.withUnsafeBufferPointer { input in
      guard let start = input.baseAddress else { return 0 }
      return unsafe Int(
        zt_gif_expand(
          start, input.count, storage.baseAddress.assumingMemoryBound(to: UInt8.self),
          Int32(size.width), Int32(size.height)))
    }
  }
}
