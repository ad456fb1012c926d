// Unsafe code: bounds as in PNGUnfilter.swift. Each loop reads and writes `count` bytes of its rows;
// words of 3- and 6-byte pixels reach into the 8 bytes after it for reading, never for writing.
// A pixel is read before the one to its left is written, because such a word runs into it.
extension PNGUnfilter {
  /// `raw` plus whichever of left (a), above (b) and above-left (c) is nearest to a + b - c.
  ///
  /// With low and high the lesser and greater of a and b, and `threshold` t = 3c - a - b: low when
  /// high <= t, high when t <= low, else c. Both hold only when a = b = c. It equals the three
  /// distances of the specification, ties included, and takes five dependent operations a pixel where
  /// those take ten; the loop is as long as that chain.
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

  /// One row.
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
    // 3 corner - up, which does not wait for the pixel to the left.
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

  /// This row and the one below it, both Paeth.
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

  /// Three rows: Paeth, Up and Paeth, which encoders often make of graphics.
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
