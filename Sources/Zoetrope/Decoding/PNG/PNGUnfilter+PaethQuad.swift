// Unsafe code: bounds as in PNGUnfilter.swift. Pixels are read and written as words of 4 bytes, which
// for 3-byte pixels run one byte into the next one: a pixel is read before the one to its left is
// written, and the last one of a row is written without that byte.
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
    var quad = unsafe PaethQuad(above: above.loadUnaligned(as: UInt32.self))
    // Reads the word at byte `x`; zero where a row has not begun or has ended.
    func word(_ row: UnsafeMutableRawPointer, _ x: Int) -> UInt32 {
      x >= 0 && x < count ? unsafe (row + x).loadUnaligned(as: UInt32.self) : 0
    }
    func raw(_ x: Int) -> SIMD4<UInt32> {
      unsafe SIMD4(
        word(row, x), word(row1, x - 2 * size), word(row2, x - 4 * size), word(row3, x - 6 * size))
    }
    func store(_ word: UInt32, _ row: UnsafeMutableRawPointer, _ x: Int) {
      guard x >= 0, x < count else { return }
      if x + size < count {
        unsafe PNGPixelLanes.store(UInt64(word), at: row + x, size: size)
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
      unsafe quad.next(next, above: (above + ahead).loadUnaligned(as: UInt32.self))
      let words = unsafe quad.left
      unsafe next = SIMD4(
        (row + ahead).loadUnaligned(as: UInt32.self),
        (row1 + (x &- size)).loadUnaligned(as: UInt32.self),
        (row2 + (x &- 3 &* size)).loadUnaligned(as: UInt32.self),
        (row3 + (x &- 5 &* size)).loadUnaligned(as: UInt32.self))
      unsafe (row + x).storeBytes(of: words.x, as: UInt32.self)
      unsafe (row1 + (x &- 2 &* size)).storeBytes(of: words.y, as: UInt32.self)
      unsafe (row2 + (x &- 4 &* size)).storeBytes(of: words.z, as: UInt32.self)
      unsafe (row3 + (x &- 6 &* size)).storeBytes(of: words.w, as: UInt32.self)
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
