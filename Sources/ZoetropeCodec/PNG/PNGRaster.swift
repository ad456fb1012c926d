internal import Glibc

/// Converts unfiltered rows, whose pixels are packed or interlaced, into rows of whole pixels in the frame's order.
///
/// Unsafe code: all rows lie in one block, in which the raster precedes the samples:
///
///     raster: height * width * pixelSize | spare: slack + width | samples | 64 bytes
///
/// A wide store may write past the end of a row. It then writes into the next row, which is filled later, or into the
/// spare bytes. A read past the samples stays within the 64 bytes after them. Both entry points check that the block is
/// large enough.
struct PNGRaster {
  /// The maximum number of bytes that ``unpack`` writes past the last pixel or reads past the last sample.
  private static let slack = 64

  let format: PNGSampleFormat
  let size: PixelSize
  /// The block that contains the raster and the samples. Other owners must not access the block while a raster uses it.
  let storage: PixelStorage

  @unsafe private var base: UnsafeMutableRawPointer { unsafe storage.baseAddress }

  /// Returns the offset of the samples in the block, or nil on overflow.
  static func front(_ size: PixelSize, _ format: PNGSampleFormat) -> Int? {
    let (pixels, isLarge) = size.width.multipliedReportingOverflow(by: size.height)
    let (bytes, isTooLarge) = pixels.multipliedReportingOverflow(by: format.pixelSize)
    let (sum, isFar) = bytes.addingReportingOverflow(size.width + slack)
    return isLarge || isTooLarge || isFar ? nil : sum
  }

  /// The number of bytes from one row of the raster to the next.
  var bytesPerRow: Int { size.width * format.pixelSize }

  /// Returns the address of the samples at `offset`. Checks that `byteCount` bytes of samples lie between the raster
  /// and the last 64 bytes of the block.
  private func samples(at offset: Int, byteCount: Int) -> UnsafeRawPointer {
    guard let front = Self.front(size, format) else { preconditionFailure("too large a raster") }
    precondition(
      front <= offset && byteCount >= 0 && byteCount <= storage.byteCount - offset - Self.slack)
    return unsafe UnsafeRawPointer(base) + offset
  }

  /// Unpacks the first `rows` rows of a non-interlaced frame and writes them to the raster. `offset` is the position of
  /// the first row's filter byte in the block.
  func place(samplesAt offset: Int, rows: Int) {
    precondition(rows <= size.height)
    let pitch = 1 + (size.width * format.bitsPerPixel + 7) / 8
    let samples = unsafe samples(at: offset, byteCount: rows * pitch)
    for y in 0..<rows {
      unsafe unpack(samples + (y * pitch + 1), to: base + y * bytesPerRow, count: size.width)
    }
  }

  /// Moves the first `rows` rows of one pass of an interlaced frame to their places in the raster. `offset` is the
  /// position of the first row's filter byte in the block.
  func place(samplesAt offset: Int, rows: Int, of pass: Adam7.Pass) {
    let part = pass.size(of: size)
    precondition(rows <= part.height)
    let pitch = 1 + (part.width * format.bitsPerPixel + 7) / 8
    let samples = unsafe samples(at: offset, byteCount: rows * pitch)
    switch format.pixelSize {
    case 1: unsafe place(samples, rows, pass, PNGPixel1.self)
    case 2: unsafe place(samples, rows, pass, PNGPixel2.self)
    case 3: unsafe place(samples, rows, pass, PNGPixel3.self)
    case 4: unsafe place(samples, rows, pass, PNGPixel4.self)
    case 6: unsafe place(samples, rows, pass, PNGPixel6.self)
    default: unsafe place(samples, rows, pass, PNGPixel8.self)
    }
  }

  @unsafe
  private func place<Pixel: PNGPixelSize>(
    _ samples: UnsafeRawPointer, _ rows: Int, _ pass: Adam7.Pass, _ pixel: Pixel.Type
  ) {
    let part = pass.size(of: size)
    let pitch = 1 + (part.width * format.bitsPerPixel + 7) / 8
    let isPacked = format.bitsPerPixel < 8
    // A packed row is first unpacked into the spare bytes. It fits, because a row has at most `width` pixels.
    let spare = unsafe base + bytesPerRow * size.height
    for line in 0..<rows {
      var from = unsafe samples + (line * pitch + 1)
      if isPacked {
        unsafe unpack(from, to: spare, count: part.width)
        unsafe from = UnsafeRawPointer(spare)
      }
      let to = unsafe base + (pass.row + line * pass.rowStep) * bytesPerRow
      switch pass.columnStep {
      case 1: unsafe memcpy(to, from, bytesPerRow)
      case 2: unsafe scatter(from, to + pass.column * Pixel.byteCount, part.width, step: 2, pixel)
      case 4: unsafe scatter(from, to + pass.column * Pixel.byteCount, part.width, step: 4, pixel)
      default: unsafe scatter(from, to + pass.column * Pixel.byteCount, part.width, step: 8, pixel)
      }
    }
  }

  /// Copies `count` adjacent pixels to places that are `step` pixels apart. Each pixel is read as a word. For pixels of
  /// 3 and 6 bytes, the word extends into the next pixel or past the samples; the extra bytes are not written.
  @inline(__always) @unsafe
  private func scatter<Pixel: PNGPixelSize>(
    _ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer, _ count: Int, step: Int,
    _: Pixel.Type
  ) {
    let size = Pixel.byteCount
    var (from, to) = unsafe (from, to)
    for _ in 0..<count {
      unsafe PNGPixelLanes.storeExactly(
        PNGPixelLanes.word(at: from, size: size), at: to, size: size)
      unsafe from += size
      unsafe to += size &* step
    }
  }

  /// Writes one byte for each of `count` samples of 1, 2 or 4 bits. The highest bits of a packed byte contain its first
  /// sample.
  ///
  /// Samples of 2 or 4 bits are unpacked from eight bytes at a time. Samples of 1 bit are unpacked from one byte at a
  /// time, because splitting the lanes a third time would cost more. The function therefore reads up to 7 bytes and
  /// writes up to 31 bytes more than necessary.
  @unsafe
  private func unpack(_ from: UnsafeRawPointer, to: UnsafeMutableRawPointer, count: Int) {
    typealias Block = SIMD8<UInt8>
    var (from, to) = unsafe (from, to)
    var left = count
    switch format.bitsPerPixel {
    case 4:
      while left > 0 {
        let bytes = unsafe from.loadUnaligned(as: Block.self)
        unsafe to.storeBytes(of: Self.split(bytes, 4), as: SIMD16<UInt8>.self)
        unsafe from += 8
        unsafe to += 16
        left &-= 16
      }
    case 2:
      while left > 0 {
        let nibbles = unsafe Self.split(from.loadUnaligned(as: Block.self), 4)
        unsafe to.storeBytes(of: Self.split(nibbles, 2), as: SIMD32<UInt8>.self)
        unsafe from += 8
        unsafe to += 32
        left &-= 32
      }
    default:
      while left > 0 {
        let byte = unsafe from.load(as: UInt8.self)
        unsafe to.storeBytes(of: Self.bits(byte), as: UInt64.self)
        unsafe from += 1
        unsafe to += 8
        left &-= 8
      }
    }
  }

  /// Returns eight bytes, in memory order, that contain the bits of `byte`, the highest bit first.
  @inline(__always)
  private static func bits(_ byte: UInt8) -> UInt64 {
    // Byte i keeps bit 7 - i of the original byte. The addition then carries that bit into the highest bit of byte i.
    let kept = UInt64(byte) &* 0x0101_0101_0101_0101 & 0x0102_0408_1020_4080
    let result = (kept &+ 0x7f7f_7f7f_7f7f_7f7f) &>> 7 & 0x0101_0101_0101_0101
    return result.littleEndian
  }

  /// Splits each lane into two lanes, first the high bits and then the low bits. `bits` is the number of low bits.
  @inline(__always)
  private static func split(_ bytes: SIMD8<UInt8>, _ bits: UInt8) -> SIMD16<UInt8> {
    var result = SIMD16<UInt8>.zero
    result.evenHalf = bytes &>> bits
    result.oddHalf = bytes & (1 &<< bits &- 1)
    return result
  }

  @inline(__always)
  private static func split(_ bytes: SIMD16<UInt8>, _ bits: UInt8) -> SIMD32<UInt8> {
    var result = SIMD32<UInt8>.zero
    result.evenHalf = bytes &>> bits
    result.oddHalf = bytes & (1 &<< bits &- 1)
    return result
  }
}

/// The format in which a file stores the pixels of its frames, and the layout in which the fast decoder outputs them.
struct PNGSampleFormat {
  /// The layout of decoded pixels. Grey pixels with fewer than 8 bits, or with 8 bits and a transparent grey, become
  /// indices into a palette of greys.
  let layout: FramePixels.Layout
  /// The number of bits per pixel in the file.
  let bitsPerPixel: Int
  /// Whether frames are stored as the seven passes of ``Adam7``.
  let isInterlaced: Bool

  /// Creates the format of a file's frames, or returns nil for an invalid colour type or depth.
  init?(_ header: ImageHeader) {
    let isKeyed = header.hasTransparentColor
    switch (header.colorType, header.bitDepth) {
    case (0, 8): layout = isKeyed ? .indexed8 : .grey8
    case (0, 16): layout = isKeyed ? .keyedGrey16 : .grey16
    case (2, 8): layout = isKeyed ? .keyedRGB8 : .rgb8
    case (2, 16): layout = isKeyed ? .keyedRGB16 : .rgb16
    case (0, 1), (0, 2), (0, 4), (3, 1), (3, 2), (3, 4), (3, 8): layout = .indexed8
    case (4, 8): layout = .greyAlpha8
    case (4, 16): layout = .greyAlpha16
    case (6, 8): layout = .rgba8
    case (6, 16): layout = .rgba16
    default: return nil
    }
    isInterlaced = header.isInterlaced
    bitsPerPixel =
      min(Int(header.bitDepth), 8) < 8 ? Int(header.bitDepth) : layout.bytesPerPixel * 8
  }

  /// The number of bytes per decoded pixel.
  var pixelSize: Int { layout.bytesPerPixel }

  /// The number of bytes by which filters look to the left: the byte count of a pixel, but at least one.
  var filterSize: Int { max(bitsPerPixel / 8, 1) }

  /// Whether a frame is complete once its rows are unfiltered. If not, its pixels are still packed or in the order of
  /// the passes, and ``PNGRaster`` converts them.
  var isDirect: Bool { bitsPerPixel >= 8 && !isInterlaced }

  /// Returns the number of bytes of a row of `width` pixels, without its filter byte, or nil on overflow.
  func rowByteCount(width: Int) -> Int? {
    let (bits, isTooLarge) = width.multipliedReportingOverflow(by: bitsPerPixel)
    return isTooLarge || bits > Int.max - 7 ? nil : (bits + 7) / 8
  }

  /// Returns the number of bytes of a frame's rows, in all passes and including filter bytes, or nil on overflow.
  func storedByteCount(of size: PixelSize) -> Int? {
    guard isInterlaced else { return pictureByteCount(size) }
    // No pass has more bytes than a frame that is not interlaced, so the sum of the seven passes cannot overflow.
    guard let whole = pictureByteCount(size), whole < Int.max / 8 else { return nil }
    return Adam7.passes.reduce(0) { $0 + (pictureByteCount($1.size(of: size)) ?? 0) }
  }

  /// Returns the location of the rows that are stored last. These are all rows of the frame or, if it is interlaced,
  /// the rows of the last pass, which alternate with rows of earlier passes. Returns nil on overflow.
  func lastRows(of size: PixelSize) -> PNGStoredRows? {
    guard let rowBytes = rowByteCount(width: size.width), let all = storedByteCount(of: size)
    else { return nil }
    let last = isInterlaced ? pictureByteCount(Adam7.last.size(of: size)) : all
    return last.map { PNGStoredRows(start: all - $0, byteCount: rowBytes + 1) }
  }

  /// Returns the number of bytes, including filter bytes, of all rows of a non-interlaced frame or of one pass. Returns
  /// nil on overflow.
  func pictureByteCount(_ size: PixelSize) -> Int? {
    guard size.width > 0, size.height > 0 else { return 0 }
    guard let rowBytes = rowByteCount(width: size.width) else { return nil }
    let (bytes, isTooLarge) = (rowBytes + 1).multipliedReportingOverflow(by: size.height)
    return isTooLarge ? nil : bytes
  }
}
