internal import Glibc

/// Puts unfiltered rows in order where they are packed or interlaced: one row of whole pixels for each
/// row of the frame.
///
/// Unsafe code: the rows lie in one block, the raster in front of the samples:
///
///     raster: height * width * pixelSize | spare: slack + width | samples | 64 bytes
///
/// Whatever is written past a row by a wide store lies in the row after it, which is written later, or
/// in the spare bytes; whatever is read past the samples lies in the 64 bytes behind them. Only the unsafe
/// methods follow the address.
@safe struct PNGRaster {
  /// Bytes that ``unpack`` may write past the last pixel, and read past the last sample.
  private static let slack = 64

  let format: PNGSampleFormat
  let size: PixelSize
  let base: UnsafeMutableRawPointer

  @unsafe
  init(format: PNGSampleFormat, size: PixelSize, base: UnsafeMutableRawPointer) {
    self.format = format
    self.size = size
    unsafe self.base = base
  }

  /// Bytes from the start of the block to the samples; nil when there are too many.
  static func front(_ size: PixelSize, _ format: PNGSampleFormat) -> Int? {
    let (pixels, isLarge) = size.width.multipliedReportingOverflow(by: size.height)
    let (bytes, isTooLarge) = pixels.multipliedReportingOverflow(by: format.pixelSize)
    let (sum, isFar) = bytes.addingReportingOverflow(size.width + slack)
    return isLarge || isTooLarge || isFar ? nil : sum
  }

  /// Bytes from one row to the next.
  var bytesPerRow: Int { size.width * format.pixelSize }

  /// Takes the first `rows` rows of a frame that is not interlaced from `samples`, where the first
  /// row's filter byte lies.
  @unsafe
  func place(_ samples: UnsafeRawPointer, rows: Int) {
    let pitch = 1 + (size.width * format.bitsPerPixel + 7) / 8
    for y in 0..<rows {
      unsafe unpack(samples + (y * pitch + 1), to: base + y * bytesPerRow, count: size.width)
    }
  }

  /// Takes one pass of an interlaced frame, whose first row's filter byte lies at `samples`.
  @unsafe
  func place(_ samples: UnsafeRawPointer, _ pass: Adam7.Pass) {
    switch format.pixelSize {
    case 1: unsafe place(samples, pass, PNGPixel1.self)
    case 2: unsafe place(samples, pass, PNGPixel2.self)
    case 3: unsafe place(samples, pass, PNGPixel3.self)
    case 4: unsafe place(samples, pass, PNGPixel4.self)
    case 6: unsafe place(samples, pass, PNGPixel6.self)
    default: unsafe place(samples, pass, PNGPixel8.self)
    }
  }

  @unsafe
  private func place<Pixel: PNGPixelSize>(
    _ samples: UnsafeRawPointer, _ pass: Adam7.Pass, _ pixel: Pixel.Type
  ) {
    let part = pass.size(of: size)
    let pitch = 1 + (part.width * format.bitsPerPixel + 7) / 8
    let isPacked = format.bitsPerPixel < 8
    // A row that was packed is taken apart in the spare bytes first: it has at most `width` pixels.
    let spare = unsafe base + bytesPerRow * size.height
    for line in 0..<part.height {
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

  /// Writes `count` pixels `step` pixels apart. Each is read as a word, which for 3 and 6 bytes runs into
  /// the next pixel or the bytes behind the samples, and written without those bytes.
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

  /// Writes a byte for each of `count` samples of 1, 2 or 4 bits, the first of which is in the highest
  /// bits. Takes eight bytes at a time and so reads up to 7 bytes and writes up to 63 too many.
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
        let pairs = unsafe Self.split(Self.split(from.loadUnaligned(as: Block.self), 4), 2)
        unsafe to.storeBytes(of: Self.split(pairs.lowHalf, 1), as: SIMD32<UInt8>.self)
        unsafe (to + 32).storeBytes(of: Self.split(pairs.highHalf, 1), as: SIMD32<UInt8>.self)
        unsafe from += 8
        unsafe to += 64
        left &-= 64
      }
    }
  }

  /// Two lanes of each: its bits from `bits` up, and those below.
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
