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
