/// Reverses PNG's row filters in place.
///
/// Unsafe code: rows are accessed through pointers. The rows start at `base` and have `1 + rowBytes` bytes each. Every
/// access stays inside the rows or in the 8 bytes after the last row. Callers own this memory and must provide those 8
/// bytes.
package enum PNGUnfilter {
  /// The filter types, as stored in the first byte of a row.
  static let none: UInt8 = 0
  static let sub: UInt8 = 1
  static let up: UInt8 = 2
  static let average: UInt8 = 3
  static let paeth: UInt8 = 4

  /// Unfilters rows from the top, until all rows are done or a row has an unknown filter type.
  ///
  /// - Parameters:
  ///   - offset: The offset of the first row's filter byte in `storage`.
  ///   - pixelSize: The number of bytes per pixel: 1, 2, 3, 4, 6 or 8.
  /// - Returns: The number of rows that were unfiltered.
  /// - Precondition: The rows, and 8 bytes after them, lie in `storage`.
  static func unfilter(
    _ storage: PixelStorage, at offset: Int, rows: Int, rowBytes: Int, pixelSize: Int
  ) -> Int {
    precondition(
      offset >= 0 && rows >= 0 && rowBytes >= 0
        && rows * (rowBytes + 1) <= storage.byteCount - offset - 8)
    return unsafe unfilter(
      storage.baseAddress + offset, rows: rows, rowBytes: rowBytes, pixelSize: pixelSize)
  }

  /// Unfilters rows at an address, like ``unfilter(_:at:rows:rowBytes:pixelSize:)``.
  ///
  /// - Parameters:
  ///   - base: The address of the first row's filter byte.
  ///   - pixelSize: The number of bytes per pixel: 1, 2, 3, 4, 6 or 8.
  /// - Returns: The number of rows that were unfiltered.
  @unsafe
  package static func unfilter(
    _ base: UnsafeMutableRawPointer, rows: Int, rowBytes: Int, pixelSize: Int
  ) -> Int {
    switch pixelSize {
    case 1: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, PNGPixel1.self)
    case 2: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, PNGPixel2.self)
    case 3: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, PNGPixel3.self)
    case 4: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, PNGPixel4.self)
    case 6: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, PNGPixel6.self)
    default: unsafe unfilterRows(base, rows: rows, rowBytes: rowBytes, PNGPixel8.self)
    }
  }

  @unsafe
  private static func unfilterRows<Pixel: PNGPixelSize>(
    _ base: UnsafeMutableRawPointer, rows: Int, rowBytes: Int, _ pixel: Pixel.Type
  ) -> Int {
    let size = Pixel.byteCount
    let pitch = rowBytes + 1
    var y = 0
    while y < rows {
      let row = unsafe base + (y * pitch + 1)
      // For the first row, the bytes above count as zero.
      let above = unsafe y > 0 ? row - pitch : nil
      switch unsafe (row - 1).load(as: UInt8.self) {
      case none: break
      case sub: unsafe undoSub(row, count: rowBytes, pixel)
      case up:
        if let above = unsafe above { unsafe undoUp(row, above: above, count: rowBytes) }
      case average: unsafe undoAverage(row, above: above, count: rowBytes, pixel)
      case paeth:
        guard let above = unsafe above else {
          // In the first row, the bytes above are zero, and the Paeth predictor always chooses the byte to the left.
          unsafe undoSub(row, count: rowBytes, pixel)
          break
        }
        let isNarrow = size <= 4
        let below = unsafe y + 1 < rows ? (row + (pitch - 1)).load(as: UInt8.self) : none
        if isNarrow, y + 3 < rows, rowBytes >= quadWidth * size,
          unsafe isPaeth(row - 1, rows: 4, pitch: pitch)
        {
          unsafe undoPaethQuad(row, above: above, count: rowBytes, pixel)
          y += 3
        } else if isNarrow, below == paeth {
          unsafe undoPaethPair(row, above: above, count: rowBytes, pixel)
          y += 1
        } else if isNarrow, below == up, y + 2 < rows,
          unsafe (row + (2 * pitch - 1)).load(as: UInt8.self) == paeth
        {
          unsafe undoPaethUpPaeth(row, above: above, count: rowBytes, pixel)
          y += 2
        } else {
          unsafe undoPaeth(row, above: above, count: rowBytes, pixel)
        }
      default: return y
      }
      y += 1
    }
    return rows
  }

  @unsafe
  private static func isPaeth(
    _ filter: UnsafeMutableRawPointer, rows: Int, pitch: Int
  ) -> Bool {
    (0..<rows).allSatisfy { unsafe (filter + $0 * pitch).load(as: UInt8.self) == paeth }
  }
}

// Unsafe code: the bounds stated for ``PNGUnfilter`` apply. Each loop reads and writes `count` bytes of `row`. Words of
// 3-byte and 6-byte pixels extend into the 8 bytes after the row, which are read but never written.
extension PNGUnfilter {
  /// Reverses the Up filter: adds the bytes of the row above to those of `row`.
  @inline(always) @unsafe
  static func undoUp(
    _ row: UnsafeMutableRawPointer, above: UnsafeMutableRawPointer, count: Int
  ) {
    typealias Block = SIMD32<UInt8>
    var x = 0
    while x &+ 32 <= count {
      let raw = unsafe row.loadUnaligned(fromByteOffset: x, as: Block.self)
      let up = unsafe above.loadUnaligned(fromByteOffset: x, as: Block.self)
      unsafe row.storeBytes(of: raw &+ up, toByteOffset: x, as: Block.self)
      x &+= 32
    }
    while x < count {
      let raw = unsafe row.load(fromByteOffset: x, as: UInt8.self)
      let up = unsafe above.load(fromByteOffset: x, as: UInt8.self)
      unsafe row.storeBytes(of: raw &+ up, toByteOffset: x, as: UInt8.self)
      x &+= 1
    }
  }

  /// Reverses the Sub filter: adds to each pixel the pixel to its left.
  @unsafe
  static func undoSub<Pixel: PNGPixelSize>(
    _ row: UnsafeMutableRawPointer, count: Int, _: Pixel.Type
  ) {
    let size = Pixel.byteCount
    var left = unsafe PNGPixelLanes()
    var next = unsafe PNGPixelLanes(at: row, size: size)
    var x = 0
    // The next pixel is read before the current pixel is written, because a word of a 3-byte or 6-byte pixel overlaps
    // the next pixel.
    while x &+ size < count {
      unsafe left = left &+ next
      unsafe next = PNGPixelLanes(at: row + (x &+ size), size: size)
      unsafe left.store(at: row + x, size: size)
      x &+= size
    }
    unsafe PNGPixelLanes.storeExactly((left &+ next).word, at: row + x, size: size)
  }

  /// Reverses the Average filter: adds to each byte half the sum of the byte to the left and the byte above, rounded
  /// down. If `above` is nil, the bytes above count as zero.
  @unsafe
  static func undoAverage<Pixel: PNGPixelSize>(
    _ row: UnsafeMutableRawPointer, above: UnsafeMutableRawPointer?, count: Int, _: Pixel.Type
  ) {
    let size = Pixel.byteCount
    guard let above = unsafe above else {
      var left = unsafe PNGPixelLanes()
      var next = unsafe PNGPixelLanes(at: row, size: size)
      var x = 0
      while x &+ size < count {
        unsafe left = next &+ PNGPixelLanes(left.lanes &>> 1)
        unsafe next = PNGPixelLanes(at: row + (x &+ size), size: size)
        unsafe left.store(at: row + x, size: size)
        x &+= size
      }
      unsafe left = next &+ PNGPixelLanes(left.lanes &>> 1)
      unsafe PNGPixelLanes.storeExactly(left.word, at: row + x, size: size)
      return
    }
    var left = unsafe PNGPixelLanes()
    var next = unsafe PNGPixelLanes(at: row, size: size)
    var x = 0
    while x &+ size < count {
      let up = unsafe PNGPixelLanes(at: above + x, size: size)
      unsafe left = next &+ PNGPixelLanes((left.lanes &+ up.lanes) &>> 1)
      unsafe next = PNGPixelLanes(at: row + (x &+ size), size: size)
      unsafe left.store(at: row + x, size: size)
      x &+= size
    }
    let up = unsafe PNGPixelLanes(at: above + x, size: size)
    unsafe left = next &+ PNGPixelLanes((left.lanes &+ up.lanes) &>> 1)
    unsafe PNGPixelLanes.storeExactly(left.word, at: row + x, size: size)
  }
}

// MARK: - Pixels

/// A PNG pixel of 1 to 8 bytes. Each byte lies in its own 16-bit lane, whose upper half is zero.
///
/// Unsafe code: the loads and stores below are unchecked. Callers must ensure that every byte that is read or written
/// is valid.
@unsafe
struct PNGPixelLanes {
  var lanes = SIMD8<Int16>.zero

  @inline(always) init() {}
  @inline(always) init(_ lanes: SIMD8<Int16>) { unsafe self.lanes = lanes }

  /// Reads the word that contains a pixel of `size` bytes. For sizes 3 and 6, the word includes the next one or two
  /// bytes, which are never stored.
  @inline(always)
  init(at address: UnsafeRawPointer, size: Int) {
    unsafe self.init(word: Self.word(at: address, size: size))
  }

  @inline(always)
  static func word(at address: UnsafeRawPointer, size: Int) -> UInt64 {
    switch size {
    case 1: unsafe UInt64(address.load(as: UInt8.self))
    case 2: unsafe UInt64(address.loadUnaligned(as: UInt16.self))
    case 3, 4: unsafe UInt64(address.loadUnaligned(as: UInt32.self))
    default: unsafe address.loadUnaligned(as: UInt64.self)
    }
  }

  /// Creates a value with one lane for each byte of `word`, the lowest byte first.
  ///
  /// This initializer and ``word`` use the even half of a vector. The standard library's conversions amount to the same
  /// two instructions, but remain function calls in large loops.
  @inline(always)
  init(word: UInt64) {
    var bytes = SIMD16<UInt8>.zero
    unsafe bytes.evenHalf = unsafeBitCast(word.littleEndian, to: SIMD8<UInt8>.self)
    unsafe self.init(fromBytes: bytes)
  }

  /// The lower halves of the lanes, packed into a word.
  @inline(always) var word: UInt64 {
    unsafe unsafeBitCast(bytes.evenHalf, to: UInt64.self).littleEndian
  }

  /// Writes the pixel as a whole word, which has 4 bytes for size 3 and 8 bytes for size 6.
  @inline(always)
  func store(at address: UnsafeMutableRawPointer, size: Int) {
    unsafe Self.store(word, at: address, size: size)
  }

  @inline(always)
  static func store(_ word: UInt64, at address: UnsafeMutableRawPointer, size: Int) {
    switch size {
    case 1: unsafe address.storeBytes(of: UInt8(truncatingIfNeeded: word), as: UInt8.self)
    case 2: unsafe address.storeBytes(of: UInt16(truncatingIfNeeded: word), as: UInt16.self)
    case 3, 4: unsafe address.storeBytes(of: UInt32(truncatingIfNeeded: word), as: UInt32.self)
    default: unsafe address.storeBytes(of: word, as: UInt64.self)
    }
  }

  /// Writes exactly `size` bytes of `word`.
  @inline(always)
  static func storeExactly(_ word: UInt64, at address: UnsafeMutableRawPointer, size: Int) {
    switch size {
    case 3:
      unsafe store(word, at: address, size: 2)
      unsafe store(word >> 16, at: address + 2, size: 1)
    case 6:
      unsafe store(word, at: address, size: 4)
      unsafe store(word >> 32, at: address + 4, size: 2)
    default: unsafe store(word, at: address, size: size)
    }
  }

  /// Adds the bytes of two pixels modulo 256. The upper halves of the lanes stay zero.
  @inline(always)
  static func &+ (left: Self, right: Self) -> Self {
    unsafe Self(fromBytes: left.bytes &+ right.bytes)
  }

  /// Subtracts the bytes of two pixels modulo 256. The upper halves of the lanes stay zero.
  @inline(always)
  static func &- (left: Self, right: Self) -> Self {
    unsafe Self(fromBytes: left.bytes &- right.bytes)
  }

  @inline(always) private var bytes: SIMD16<UInt8> {
    unsafe unsafeBitCast(lanes, to: SIMD16<UInt8>.self)
  }

  @inline(always) private init(fromBytes bytes: SIMD16<UInt8>) {
    unsafe self.lanes = unsafeBitCast(bytes, to: SIMD8<Int16>.self)
  }
}

/// A type that represents the number of bytes per pixel, so that the compiler specialises each filter loop for it.
protocol PNGPixelSize {
  static var byteCount: Int { get }
}

enum PNGPixel1: PNGPixelSize { @inline(always) static var byteCount: Int { 1 } }
enum PNGPixel2: PNGPixelSize { @inline(always) static var byteCount: Int { 2 } }
enum PNGPixel3: PNGPixelSize { @inline(always) static var byteCount: Int { 3 } }
enum PNGPixel4: PNGPixelSize { @inline(always) static var byteCount: Int { 4 } }
enum PNGPixel6: PNGPixelSize { @inline(always) static var byteCount: Int { 6 } }
enum PNGPixel8: PNGPixelSize { @inline(always) static var byteCount: Int { 8 } }
