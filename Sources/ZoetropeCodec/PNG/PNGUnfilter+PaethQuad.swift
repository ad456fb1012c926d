// Unsafe code: bounds as in PNGUnfilter.swift. Pixels of 3 bytes are read and written as words of 4, which
// run one byte into the next one: a pixel is read before the one to its left is written, and the last
// one of a row is written without that byte.
extension PNGUnfilter {
  /// The fewest pixels in a row for ``undoPaethQuad(_:above:count:_:)``.
  static let quadWidth = 8

  /// This row and the three below it, all Paeth, of at least ``quadWidth`` pixels.
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
    // Reads the word at byte `x`; zero where a row has not begun or has ended.
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
    // All four rows are inside: their pixels end before the last one.
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
