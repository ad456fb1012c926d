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

// MARK: - The Paeth filter

// Unsafe code: the bounds stated for ``PNGUnfilter`` apply. Each loop reads and writes `count` bytes of its rows. Words
// of 3-byte and 6-byte pixels extend into the 8 bytes after a row, which are read but never written. A pixel is read
// before its left neighbour is written, because the neighbour's word overlaps the pixel.
extension PNGUnfilter {
  /// Returns the sum of `raw` and the Paeth prediction, which is whichever of left (a), above (b) and above-left (c) is
  /// nearest to a + b - c.
  ///
  /// Let low be the lesser and high the greater of a and b, and let `threshold` be t = 3c - a - b. The prediction is
  /// low if high <= t, high if t <= low, and otherwise c. Both conditions hold only if a = b = c. This equals the
  /// specification's rule of three distances, including ties. However, it takes a chain of five dependent operations
  /// per pixel instead of ten, and the length of this chain determines the speed of the loop.
  @inline(always) @unsafe
  static func predict(
    _ raw: PNGPixelLanes, left: PNGPixelLanes, up: PNGPixelLanes, corner: PNGPixelLanes,
    threshold: SIMD8<Int16>
  ) -> PNGPixelLanes {
    let isLess = unsafe left.lanes .< up.lanes
    let low = unsafe up.lanes.replacing(with: left.lanes, where: isLess)
    let high = unsafe left.lanes.replacing(with: up.lanes, where: isLess)
    let toLow = unsafe PNGPixelLanes(low) &- corner
    let toHigh = unsafe PNGPixelLanes(high) &- corner
    let takeLow = unsafe SIMD8<Int16>.zero.replacing(with: toLow.lanes, where: high .<= threshold)
    let takeHigh = unsafe SIMD8<Int16>.zero.replacing(with: toHigh.lanes, where: threshold .<= low)
    return unsafe (raw &+ corner) &+ PNGPixelLanes(takeLow | takeHigh)
  }

  /// Unfilters one row with the filter type Paeth.
  @unsafe
  static func undoPaeth<Pixel: PNGPixelSize>(
    _ row: UnsafeMutableRawPointer, above: UnsafeMutableRawPointer, count: Int, _: Pixel.Type
  ) {
    let size = Pixel.byteCount
    var left = unsafe PNGPixelLanes()
    var corner = unsafe PNGPixelLanes()
    var x = 0
    var raw = unsafe PNGPixelLanes(at: row, size: size)
    var up = unsafe PNGPixelLanes(at: above, size: size)
    // This is 3 * corner - up, the part of the threshold that does not depend on the pixel to the left.
    var base = unsafe SIMD8<Int16>.zero &- up.lanes
    while true {
      unsafe left = predict(
        raw, left: left, up: up, corner: corner, threshold: base &- left.lanes)
      let next = x &+ size
      guard next < count else { break }
      unsafe raw = PNGPixelLanes(at: row + next, size: size)
      unsafe corner = up
      unsafe up = PNGPixelLanes(at: above + next, size: size)
      unsafe base = corner.lanes &+ corner.lanes &+ corner.lanes &- up.lanes
      unsafe left.store(at: row + x, size: size)
      x = next
    }
    unsafe PNGPixelLanes.storeExactly(left.word, at: row + x, size: size)
  }

  /// Unfilters `row` and the row below it, which both have the filter type Paeth.
  @unsafe
  static func undoPaethPair<Pixel: PNGPixelSize>(
    _ row: UnsafeMutableRawPointer, above: UnsafeMutableRawPointer, count: Int, _: Pixel.Type
  ) {
    let size = Pixel.byteCount
    let below = unsafe row + (count &+ 1)
    var pair = unsafe PaethPair(
      raw: PNGPixelLanes(at: row, size: size), up: PNGPixelLanes(at: above, size: size))
    var rawBelow = unsafe PNGPixelLanes(at: below, size: size)
    var x = 0
    while x &+ size < count {
      let word = unsafe pair.left.word
      let next = x &+ size
      unsafe pair.next(
        row: PNGPixelLanes(at: row + next, size: size), below: rawBelow,
        up: PNGPixelLanes(at: above + next, size: size), between: pair.left)
      unsafe rawBelow = PNGPixelLanes(at: below + next, size: size)
      unsafe PNGPixelLanes.store(word, at: row + x, size: size)
      if x > 0 { unsafe PNGPixelLanes.store(word >> 32, at: below + (x &- size), size: size) }
      x = next
    }
    let word = unsafe pair.left.word
    unsafe PNGPixelLanes.storeExactly(word, at: row + x, size: size)
    if x > 0 { unsafe PNGPixelLanes.store(word >> 32, at: below + (x &- size), size: size) }
    unsafe pair.next(
      row: PNGPixelLanes(), below: rawBelow, up: PNGPixelLanes(), between: pair.left)
    unsafe PNGPixelLanes.storeExactly(pair.left.word >> 32, at: below + x, size: size)
  }

  /// Unfilters three rows with the filter types Paeth, Up and Paeth. Encoders often choose this sequence for graphics.
  @unsafe
  static func undoPaethUpPaeth<Pixel: PNGPixelSize>(
    _ row: UnsafeMutableRawPointer, above: UnsafeMutableRawPointer, count: Int, _: Pixel.Type
  ) {
    let size = Pixel.byteCount
    let middle = unsafe row + (count &+ 1)
    let below = unsafe middle + (count &+ 1)
    var pair = unsafe PaethPair(
      raw: PNGPixelLanes(at: row, size: size), up: PNGPixelLanes(at: above, size: size))
    var between = unsafe pair.left &+ PNGPixelLanes(at: middle, size: size)
    var rawBelow = unsafe PNGPixelLanes(at: below, size: size)
    var x = 0
    while x &+ size < count {
      let word = unsafe pair.left.word
      let wordBetween = unsafe between.word
      let next = x &+ size
      unsafe pair.next(
        row: PNGPixelLanes(at: row + next, size: size), below: rawBelow,
        up: PNGPixelLanes(at: above + next, size: size), between: between)
      unsafe rawBelow = PNGPixelLanes(at: below + next, size: size)
      unsafe between = pair.left &+ PNGPixelLanes(at: middle + next, size: size)
      unsafe PNGPixelLanes.store(word, at: row + x, size: size)
      unsafe PNGPixelLanes.store(wordBetween, at: middle + x, size: size)
      if x > 0 { unsafe PNGPixelLanes.store(word >> 32, at: below + (x &- size), size: size) }
      x = next
    }
    let word = unsafe pair.left.word
    unsafe PNGPixelLanes.storeExactly(word, at: row + x, size: size)
    unsafe PNGPixelLanes.storeExactly(between.word, at: middle + x, size: size)
    if x > 0 { unsafe PNGPixelLanes.store(word >> 32, at: below + (x &- size), size: size) }
    unsafe pair.next(
      row: PNGPixelLanes(), below: rawBelow, up: PNGPixelLanes(), between: between)
    unsafe PNGPixelLanes.storeExactly(pair.left.word >> 32, at: below + x, size: size)
  }
}

// Unsafe code: the bounds stated for ``PNGUnfilter`` apply. A pixel of 3 bytes is read and written as a word of 4
// bytes, which overlaps the next pixel by one byte. A pixel is therefore read before its left neighbour is written, and
// the last pixel of a row is written without the extra byte.
extension PNGUnfilter {
  /// The minimum number of pixels in a row for ``undoPaethQuad(_:above:count:_:)``.
  static let quadWidth = 8

  /// Unfilters `row` and the three rows below it, which all have the filter type Paeth and at least ``quadWidth``
  /// pixels.
  @unsafe
  static func undoPaethQuad<Pixel: PNGPixelSize>(
    _ row: UnsafeMutableRawPointer, above: UnsafeMutableRawPointer, count: Int, _: Pixel.Type
  ) {
    let size = Pixel.byteCount
    let row1 = unsafe row + (count &+ 1)
    let row2 = unsafe row1 + (count &+ 1)
    let row3 = unsafe row2 + (count &+ 1)
    @inline(__always) func load(_ address: UnsafeMutableRawPointer) -> UInt32 {
      UInt32(truncatingIfNeeded: unsafe PNGPixelLanes.word(at: address, size: size))
    }
    @inline(__always) func put(_ word: UInt32, _ address: UnsafeMutableRawPointer) {
      unsafe PNGPixelLanes.store(UInt64(word), at: address, size: size)
    }
    var quad = unsafe PaethQuad(above: load(above))
    // Reads the word at byte `x` of a row. The result is zero if `x` lies outside the row.
    func word(_ row: UnsafeMutableRawPointer, _ x: Int) -> UInt32 {
      x >= 0 && x < count ? unsafe load(row + x) : 0
    }
    func raw(_ x: Int) -> SIMD4<UInt32> {
      unsafe SIMD4(
        word(row, x), word(row1, x - 2 * size), word(row2, x - 4 * size), word(row3, x - 6 * size))
    }
    func store(_ word: UInt32, _ row: UnsafeMutableRawPointer, _ x: Int) {
      guard x >= 0, x < count else { return }
      if x + size < count {
        unsafe put(word, row + x)
      } else {
        unsafe PNGPixelLanes.storeExactly(UInt64(word), at: row + x, size: size)
      }
    }
    func storeAll(_ words: SIMD4<UInt32>, _ x: Int) {
      unsafe store(words.x, row, x)
      unsafe store(words.y, row1, x - 2 * size)
      unsafe store(words.z, row2, x - 4 * size)
      unsafe store(words.w, row3, x - 6 * size)
    }

    var x = 0
    var next = raw(0)
    while x < 6 &* size {
      unsafe quad.next(next, above: word(above, x + size))
      next = raw(x + size)
      unsafe storeAll(quad.left, x)
      x &+= size
    }
    // In this loop, all four rows have begun, and none of them has reached its last pixel.
    while x &+ size < count {
      let ahead = x &+ size
      unsafe quad.next(next, above: load(above + ahead))
      let words = unsafe quad.left
      unsafe next = SIMD4(
        load(row + ahead), load(row1 + (x &- size)), load(row2 + (x &- 3 &* size)),
        load(row3 + (x &- 5 &* size)))
      unsafe put(words.x, row + x)
      unsafe put(words.y, row1 + (x &- 2 &* size))
      unsafe put(words.z, row2 + (x &- 4 &* size))
      unsafe put(words.w, row3 + (x &- 6 &* size))
      x = ahead
    }
    while x < count &+ 6 &* size {
      unsafe quad.next(next, above: word(above, x + size))
      next = raw(x + size)
      unsafe storeAll(quad.left, x)
      x &+= size
    }
  }
}

/// Unfilters two Paeth rows in parallel, for pixels of up to 4 bytes. The lower half of each vector contains a pixel of
/// the first row, and the upper half a pixel of a row further down. The second of these rows runs one pixel behind, so
/// that the pixels that it needs from the first row are finished.
///
/// The chain of dependent operations is barely longer than that for one row, so two rows take little longer than one.
@unsafe
struct PaethPair {
  /// The pixels that were finished last.
  private(set) var left = unsafe PNGPixelLanes()
  private var raw: PNGPixelLanes
  private var up: PNGPixelLanes
  private var corner = unsafe PNGPixelLanes()
  // This is 3 * corner - left. It is carried from one step to the next, because the compiler would otherwise add left
  // and up first, which would lengthen the chain of dependent operations.
  private var base = SIMD8<Int16>.zero

  /// Starts with the first pixel of the first row. The second row starts with zero.
  @inline(always)
  init(raw: PNGPixelLanes, up: PNGPixelLanes) {
    unsafe self.raw = raw
    unsafe self.up = up
    unsafe self.raw.lanes.highHalf = .zero
    unsafe self.up.lanes.highHalf = .zero
    unsafe step()
  }

  /// Advances both rows by one pixel.
  ///
  /// - Parameters:
  ///   - row: The filtered pixel of the first row.
  ///   - below: The filtered pixel of the second row.
  ///   - up: The pixel above `row`.
  ///   - between: The pixel above `below`.
  @inline(always)
  mutating func next(
    row: PNGPixelLanes, below: PNGPixelLanes, up above: PNGPixelLanes, between: PNGPixelLanes
  ) {
    unsafe raw = row
    unsafe raw.lanes.highHalf = below.lanes.lowHalf
    unsafe up = above
    unsafe up.lanes.highHalf = between.lanes.lowHalf
    unsafe step()
  }

  @inline(always)
  private mutating func step() {
    unsafe left = PNGUnfilter.predict(
      raw, left: left, up: up, corner: corner, threshold: base &- up.lanes)
    unsafe corner = up
    unsafe base = up.lanes &+ up.lanes &+ up.lanes &- left.lanes
  }
}

/// Unfilters four Paeth rows in parallel, for pixels of up to 4 bytes. Each 32-bit word of a vector contains a pixel of
/// one row. Each row runs two pixels behind the row above it, so that the pixels that it needs are finished. A distance
/// of one pixel would suffice, but with two pixels, moving words between lanes is not part of the chain of dependent
/// operations, which determines the speed.
///
/// The lanes have 8 bits, so bytes need no widening.
@unsafe
struct PaethQuad {
  /// The pixels that were finished last. The lowest word contains that of the first row.
  private(set) var left = SIMD4<UInt32>.zero
  private var corner = SIMD16<UInt8>.zero
  private var up: SIMD16<UInt8>

  /// Starts before the first pixel of the first row. `above` is the pixel above that pixel.
  @inline(always) init(above: UInt32) {
    unsafe up = Self.bytes(SIMD4(above, 0, 0, 0))
  }

  /// Advances all rows by one pixel.
  ///
  /// - Parameters:
  ///   - raw: The filtered pixels, one for each row. The pixel of a row that has not begun is zero.
  ///   - above: The pixel above the first row's next pixel, which is the one after its pixel in `raw`.
  @inline(always)
  mutating func next(_ raw: SIMD4<UInt32>, above: UInt32) {
    let before = unsafe Self.bytes(left)
    let next = unsafe Self.bytes(SIMD4(above, left.x, left.y, left.z))
    let up = unsafe self.up
    let isLess = before .< up
    let low = up.replacing(with: before, where: isLess)
    let high = before.replacing(with: up, where: isLess)
    // The rise is the distance from the corner up to `high`, and the fall is the distance from the corner down to
    // `low`. With them, the rule of `PNGUnfilter.predict` reads "low if 2 * rise <= fall, high if 2 * fall <= rise".
    let rise = unsafe Self.difference(high, corner)
    let fall = unsafe Self.difference(corner, low)
    let takesLow = unsafe rise .<= Self.difference(fall, rise)
    let takesHigh = unsafe fall .<= Self.difference(rise, fall)
    let toLow = unsafe SIMD16<UInt8>.zero.replacing(with: low &- corner, where: takesLow)
    let toHigh = unsafe SIMD16<UInt8>.zero.replacing(with: high &- corner, where: takesHigh)
    let sum = unsafe (Self.bytes(raw) &+ corner) &+ (toLow | toHigh)
    unsafe left = unsafeBitCast(sum, to: SIMD4<UInt32>.self)
    unsafe corner = up
    unsafe self.up = next
  }

  @inline(always)
  private static func bytes(_ words: SIMD4<UInt32>) -> SIMD16<UInt8> {
    unsafe unsafeBitCast(words, to: SIMD16<UInt8>.self)
  }

  /// Returns `a - b`, or zero where the difference is negative. This compiles to one instruction.
  @inline(always)
  private static func difference(_ a: SIMD16<UInt8>, _ b: SIMD16<UInt8>) -> SIMD16<UInt8> {
    a.replacing(with: b, where: a .< b) &- b
  }
}
