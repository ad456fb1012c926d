internal import ZoetropeShims

// Unsafe: each address is lent to a single C call, which does not keep it and is told the size of
// everything that it reads and writes.

/// Decodes frames with libpng and zlib: any colour type, depth and interlacing.
///
/// The pixels are 8-bit RGBA, or 16-bit if the frame has 16 bits and they are requested.
package struct PNGReferenceDecoder: FrameDecoding {
  /// Whether the samples of a 16-bit file keep their low byte.
  package let keeps16Bit: Bool
  private var data = PNGStreamAssembler()

  package init(keeps16Bit: Bool = false) { self.keeps16Bit = keeps16Bit }

  package mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan,
    into pixels: FramePixels
  ) throws(AnimatedImageError) {
    guard try data.begin(control, bytes: bytes, into: pixels) else { return }
    let outcome = try data.decodeByLibpng(
      bytes, header: header, keeps16Bit: keeps16Bit, into: pixels)
    pixels.damage = outcome.damage(of: control, in: data, byteCount: bytes.byteCount)
  }
}

/// libpng, behind the C function that contains the `setjmp`.
enum LibpngDecoder {
  /// Decodes a zlib stream into `pixels`, whose width and height give the frame's size.
  ///
  /// Rows lie from the start of the storage, in ``FramePixels/Layout/rgba8``, or in
  /// ``FramePixels/Layout/rgba16`` if 16 bits are kept of a file that has them.
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
        AnimatedImageError(.outOfMemory, "no memory for libpng", format: header.format))
    }
    pixels.content.validPixels = Int(result.rows) * pixels.content.width
    pixels.content.isOpaque = header.isOpaquePNG
    return .success(
      PNGFrameOutcome(fault: fault(result.code), rows: Int(result.rows), message: text(result)))
  }

  /// The size of a frame as libpng takes it.
  fileprivate typealias Room = (rowBytes: Int, width: UInt32, height: UInt32)

  /// Makes room in `pixels` for the rows of a frame of its size.
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
        .outOfMemory, "no memory for a frame of this size", format: header.format)
    }
    pixels.content.bytesPerRow = rowBytes
    try pixels.reserve(byteCount: byteCount)
    return (rowBytes, width, height)
  }

  /// Calls `body` with the description of a frame, whose data is still to be set.
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

  // libpng keeps a few rows of at most 8 bytes per pixel; zlib some 50 KB.
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

  /// PLTE for all indices that the depth allows; entries past the file's colours are black.
  private static func paletteBytes(_ header: ImageHeader) -> [UInt8] {
    guard header.colorType == 3 else { return [] }
    return (0..<1 << min(Int(header.bitDepth), 8)).flatMap { index -> [UInt8] in
      guard index < header.palette.count else { return [0, 0, 0] }
      let color = RGBA(word: header.palette[index])
      return [color.red, color.green, color.blue]
    }
  }

  /// tRNS: the alphas of a palette, or else the original chunk if its length is right.
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

/// libpng's progressive reader of one frame: decodes each byte once, as it arrives.
///
/// The C object writes to the storage of the frame's pixels, which this object keeps alive.
@safe
final class LibpngArrival {
  private let arrival: OpaquePointer
  private let storage: PixelStorage

  /// Makes room in `pixels`, whose width and height give the frame's size, and begins.
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
      throw AnimatedImageError(.outOfMemory, "no memory for libpng", format: header.format)
    }
    unsafe self.arrival = arrival
    self.storage = storage
  }

  deinit { unsafe zoetrope_png_leave(arrival) }

  /// Decodes the next bytes of the zlib stream.
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
