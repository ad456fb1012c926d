internal import Glibc

/// Converts unfiltered packed or interlaced rows to rows of whole pixels in the frame's order.
///
/// Unsafe code: the rows lie in one block, with the raster before the samples:
///
///     raster: height * width * pixelSize | spare: slack + width | samples | 64 bytes
///
/// A wide store may write past a row, into the next row, which is written later, or into the spare
/// bytes. Reads past the samples stay within the 64 bytes after them. Both entry points check that
/// the block is large enough.
struct PNGRaster {
  /// The number of bytes that ``unpack`` may write past the last pixel or read past the last sample.
  private static let slack = 64

  let format: PNGSampleFormat
  let size: PixelSize
  /// The block. Other owners must not access it meanwhile.
  let storage: PixelStorage

  @unsafe private var base: UnsafeMutableRawPointer { unsafe storage.baseAddress }

  /// Returns the number of bytes from the start of the block to the samples, or nil on overflow.
  static func front(_ size: PixelSize, _ format: PNGSampleFormat) -> Int? {
    let (pixels, isLarge) = size.width.multipliedReportingOverflow(by: size.height)
    let (bytes, isTooLarge) = pixels.multipliedReportingOverflow(by: format.pixelSize)
    let (sum, isFar) = bytes.addingReportingOverflow(size.width + slack)
    return isLarge || isTooLarge || isFar ? nil : sum
  }

  /// Bytes from one row to the next.
  var bytesPerRow: Int { size.width * format.pixelSize }

  /// Returns the address of `byteCount` bytes of samples at `offset`, which lie between the raster and the slack.
  private func samples(at offset: Int, byteCount: Int) -> UnsafeRawPointer {
    guard let front = Self.front(size, format) else { preconditionFailure("too large a raster") }
    precondition(
      front <= offset && byteCount >= 0 && byteCount <= storage.byteCount - offset - Self.slack)
    return unsafe UnsafeRawPointer(base) + offset
  }

  /// Places the first `rows` rows of a frame that is not interlaced. The first row's filter byte
  /// lies at `offset`.
  func place(samplesAt offset: Int, rows: Int) {
    precondition(rows <= size.height)
    let pitch = 1 + (size.width * format.bitsPerPixel + 7) / 8
    let samples = unsafe samples(at: offset, byteCount: rows * pitch)
    for y in 0..<rows {
      unsafe unpack(samples + (y * pitch + 1), to: base + y * bytesPerRow, count: size.width)
    }
  }

  /// Places the first `rows` rows of one pass of an interlaced frame. The first row's filter byte lies at `offset`.
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
    // Packed rows are first unpacked into the spare bytes, which fit because a row has at most `width` pixels.
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

  /// Writes `count` pixels, `step` pixels apart. Each is read as a word, which for pixels of 3 and
  /// 6 bytes extends into the next pixel or past the samples. The extra bytes are not written.
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

  /// Writes a byte for each of `count` samples of 1, 2 or 4 bits, the first of which is in the highest bits. Processes
  /// eight bytes at a time, but only one byte at 1 bit per sample, where splitting the lanes a third time would cost
  /// more. It therefore reads up to 7 bytes and writes up to 31 bytes too many.
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

  /// Returns the bits of a byte as bytes in memory order, the highest bit first.
  @inline(__always)
  private static func bits(_ byte: UInt8) -> UInt64 {
    // Byte i keeps bit 7 - i. The addition then carries that bit into the highest bit of its byte.
    let kept = UInt64(byte) &* 0x0101_0101_0101_0101 & 0x0102_0408_1020_4080
    let result = (kept &+ 0x7f7f_7f7f_7f7f_7f7f) &>> 7 & 0x0101_0101_0101_0101
    return result.littleEndian
  }

  /// Splits each lane in two: the bits from `bits` up, and the bits below.
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

/// The storage format of the pixels of a file's frames, and the layout in which the fast decoder
/// outputs them.
struct PNGSampleFormat {
  /// The output layout. Grey with a transparent value and grey of fewer than 8 bits become indices
  /// into a palette of greys.
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

  /// The distance in bytes from a byte to the one on its left, as filters count it.
  var filterSize: Int { max(bitsPerPixel / 8, 1) }

  /// Whether the frame is complete once its rows are unfiltered. Otherwise its pixels are still
  /// packed or in pass order, and ``PNGRaster`` converts them to separate rows.
  var isDirect: Bool { bitsPerPixel >= 8 && !isInterlaced }

  /// Returns the number of bytes of a row of `width` pixels without its filter byte, or nil on overflow.
  func rowByteCount(width: Int) -> Int? {
    let (bits, isTooLarge) = width.multipliedReportingOverflow(by: bitsPerPixel)
    return isTooLarge || bits > Int.max - 7 ? nil : (bits + 7) / 8
  }

  /// Returns the number of bytes of a frame's rows in all passes, including filter bytes, or nil on overflow.
  func storedByteCount(of size: PixelSize) -> Int? {
    guard isInterlaced else { return pictureByteCount(size) }
    // Each pass has at most as many bytes as the frame; in fact a quarter or half of them.
    guard let whole = pictureByteCount(size), whole < Int.max / 8 else { return nil }
    return Adam7.passes.reduce(0) { $0 + (pictureByteCount($1.size(of: size)) ?? 0) }
  }

  /// Returns the location of a frame's last rows: all rows, or in an interlaced frame the rows of the last pass,
  /// between which all other rows are complete. Returns nil on overflow.
  func lastRows(of size: PixelSize) -> PNGStoredRows? {
    guard let rowBytes = rowByteCount(width: size.width), let all = storedByteCount(of: size)
    else { return nil }
    let last = isInterlaced ? pictureByteCount(Adam7.last.size(of: size)) : all
    return last.map { PNGStoredRows(start: all - $0, byteCount: rowBytes + 1) }
  }

  /// Returns the number of bytes of the rows of one picture, including filter bytes.
  func pictureByteCount(_ size: PixelSize) -> Int? {
    guard size.width > 0, size.height > 0 else { return 0 }
    guard let rowBytes = rowByteCount(width: size.width) else { return nil }
    let (bytes, isTooLarge) = (rowBytes + 1).multipliedReportingOverflow(by: size.height)
    return isTooLarge ? nil : bytes
  }
}

/// The rows of equal length at the end of a frame's inflated data.
struct PNGStoredRows {
  /// The number of bytes before the first row.
  let start: Int
  /// The number of bytes of a row, including its filter byte.
  let byteCount: Int
}
