internal import ZoetropeShims

/// libpng, behind the C function that holds its `setjmp`.
///
/// Unsafe code: pointers are lent to one call of `zoetrope_png_decode`, which keeps none and is told
/// the size of everything that it reads and writes.
enum PNGGuard {
  /// Decodes a zlib stream into `pixels`, whose width and height say what the frame has.
  ///
  /// Rows lie from the start of the storage, in ``FramePixels/Layout/rgba8``, or
  /// ``FramePixels/Layout/rgba16`` when 16 bits are kept of a file that has them.
  @unsafe
  static func decode(
    _ stream: UnsafeRawBufferPointer, header: ImageHeader, keeps16Bit: Bool,
    into pixels: FramePixels
  ) -> Result<PNGEnding, AnimatedImageError> {
    let isDeep = keeps16Bit && header.bitDepth == 16
    pixels.layout = isDeep ? .rgba16 : .rgba8
    pixels.offset = 0
    let (rowBytes, isWide) = pixels.width.multipliedReportingOverflow(by: isDeep ? 8 : 4)
    let (byteCount, isLarge) = rowBytes.multipliedReportingOverflow(by: pixels.height)
    guard !isWide, !isLarge, let width = UInt32(exactly: pixels.width),
      let height = UInt32(exactly: pixels.height)
    else {
      return .failure(AnimatedImageError(.limitExceeded, "frame size", format: header.format))
    }
    pixels.bytesPerRow = rowBytes
    do { try pixels.reserve(byteCount: byteCount) } catch { return .failure(error) }

    let palette = paletteBytes(header)
    let transparency = transparencyBytes(header)
    let result = unsafe palette.withUnsafeBufferPointer { palette in
      unsafe transparency.withUnsafeBufferPointer { transparency in
        var request = unsafe zoetrope_png_request(
          width: width, height: height, bit_depth: header.bitDepth, color_type: header.colorType,
          interlace: header.isInterlaced ? 1 : 0, keeps_16_bit: keeps16Bit,
          palette: palette.baseAddress, palette_count: palette.count / 3,
          transparency: transparency.baseAddress, transparency_count: transparency.count,
          data: stream.baseAddress?.assumingMemoryBound(to: UInt8.self), data_count: stream.count,
          memory_limit: memoryLimit(width: pixels.width))
        let storage = pixels.storage
        return unsafe zoetrope_png_decode(
          &request, storage.baseAddress.assumingMemoryBound(to: UInt8.self), rowBytes,
          storage.byteCount)
      }
    }
    if result.code == ZOETROPE_PNG_MEMORY {
      return .failure(AnimatedImageError(.limitExceeded, "memory", format: header.format))
    }
    pixels.validPixels = Int(result.rows) * pixels.width
    pixels.isOpaque = header.isOpaquePNG
    return .success(
      PNGEnding(fault: fault(result.code), rows: Int(result.rows), message: text(result)))
  }

  // libpng keeps a few rows of at most 8 bytes a pixel; zlib some 50 KB.
  private static func memoryLimit(width: Int) -> Int { 4 << 20 + width * 64 }

  private static func fault(_ code: zoetrope_png_code) -> PNGEnding.Fault {
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

  /// PLTE for all indices that the depth allows: those past the file's colours are black.
  private static func paletteBytes(_ header: ImageHeader) -> [UInt8] {
    guard header.colorType == 3 else { return [] }
    return (0..<1 << min(Int(header.bitDepth), 8)).flatMap { index -> [UInt8] in
      guard index < header.palette.count else { return [0, 0, 0] }
      let color = RGBA(word: header.palette[index])
      return [color.red, color.green, color.blue]
    }
  }

  /// tRNS: the alphas of a palette, else the chunk as it was when it has the right length.
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
