// Unsafe code: bounds as in PNGUnfilter.swift. Each loop reads and writes `count` bytes of its rows;
// words of 3- and 6-byte pixels reach into the 8 bytes after it for reading, never for writing.
extension PNGUnfilter {
  /// `raw` plus whichever of left (a), above (b) and above-left (c) is nearest to a + b - c.
  ///
  /// With low and high the lesser and greater of a and b, and t = 3c - a - b: low when high <= t,
  /// high when t <= low, else c. Both hold only when a = b = c. It equals the three distances of the
  /// specification, ties included, and takes six dependent operations a pixel where those take ten;
  /// the loop is as long as that chain. `base` is 3c - b, which does not wait for the left pixel.
  @inline(__always) @unsafe
  private static func predict(
    _ raw: PNGPixelLanes, left: PNGPixelLanes, up: PNGPixelLanes, corner: PNGPixelLanes,
    base: SIMD8<Int16>
  ) -> PNGPixelLanes {
    let threshold = unsafe base &- left.lanes
    let isLess = unsafe left.lanes .< up.lanes
    let low = unsafe up.lanes.replacing(with: left.lanes, where: isLess)
    let high = unsafe left.lanes.replacing(with: up.lanes, where: isLess)
    let toLow = unsafe PNGPixelLanes(low) &- corner
    let toHigh = unsafe PNGPixelLanes(high) &- corner
    let takeLow = unsafe SIMD8<Int16>.zero.replacing(with: toLow.lanes, where: high .<= threshold)
    let takeHigh = unsafe SIMD8<Int16>.zero.replacing(with: toHigh.lanes, where: threshold .<= low)
    return unsafe (raw &+ corner) &+ PNGPixelLanes(takeLow | takeHigh)
  }

  @inline(__always) @unsafe
  private static func base(up: PNGPixelLanes, corner: PNGPixelLanes) -> SIMD8<Int16> {
    unsafe corner.lanes &+ corner.lanes &+ corner.lanes &- up.lanes
  }

  /// One row.
  @inline(__always) @unsafe
  static func undoPaeth(
    _ row: UnsafeMutableRawPointer, above: UnsafeMutableRawPointer, count: Int, size: Int
  ) {
    var left = unsafe PNGPixelLanes()
    var corner = unsafe PNGPixelLanes()
    var raw = unsafe PNGPixelLanes(at: row, size: size)
    var up = unsafe PNGPixelLanes(at: above, size: size)
    var threshold = unsafe base(up: up, corner: corner)
    var x = 0
    while x &+ size < count {
      unsafe left = predict(raw, left: left, up: up, corner: corner, base: threshold)
      let next = x &+ size
      unsafe raw = PNGPixelLanes(at: row + next, size: size)
      unsafe corner = up
      unsafe up = PNGPixelLanes(at: above + next, size: size)
      unsafe threshold = base(up: up, corner: corner)
      unsafe left.store(at: row + x, size: size)
      x = next
    }
    unsafe left = predict(raw, left: left, up: up, corner: corner, base: threshold)
    unsafe PNGPixelLanes.storeExactly(left.word, at: row + x, size: size)
  }

  /// Two rows at once, for pixels of 3 or 4 bytes: four lanes for `row`, four for the row below it,
  /// which runs one pixel behind, so that the pixels above it are done when it needs them.
  ///
  /// The chain of dependent operations is the same as for one row, so this halves the time.
  @inline(__always) @unsafe
  static func undoPaethPair(
    _ row: UnsafeMutableRawPointer, above: UnsafeMutableRawPointer, count: Int, size: Int
  ) {
    let below = unsafe row + (count &+ 1)
    var left = unsafe PNGPixelLanes()
    var corner = unsafe PNGPixelLanes()
    // The row below starts with a pixel that is not there: all zero, it stays zero.
    var raw = unsafe PNGPixelLanes(at: row, size: size)
    var up = unsafe PNGPixelLanes(at: above, size: size)
    unsafe raw.lanes.highHalf = .zero
    unsafe up.lanes.highHalf = .zero
    var nextBelow = unsafe UInt64(below.loadUnaligned(as: UInt32.self))
    var x = 0
    var before = -size
    while x &+ size < count {
      unsafe left = predict(
        raw, left: left, up: up, corner: corner, base: base(up: up, corner: corner))
      let word = unsafe left.word
      let next = x &+ size
      let rawWord = unsafe UInt64((row + next).loadUnaligned(as: UInt32.self)) | nextBelow << 32
      unsafe raw = PNGPixelLanes(pair: rawWord)
      unsafe corner = up
      unsafe up = PNGPixelLanes(at: above + next, size: size)
      unsafe up.lanes.highHalf = left.lanes.lowHalf
      unsafe nextBelow = UInt64((below + next).loadUnaligned(as: UInt32.self))
      unsafe PNGPixelLanes.store(word, at: row + x, size: size)
      if before >= 0 { unsafe PNGPixelLanes.store(word >> 32, at: below + before, size: size) }
      before = x
      x = next
    }
    // The last pixel of `row` with the one before it below, then the last one below.
    unsafe left = predict(
      raw, left: left, up: up, corner: corner, base: base(up: up, corner: corner))
    let word = unsafe left.word
    unsafe PNGPixelLanes.storeExactly(word, at: row + x, size: size)
    if before >= 0 { unsafe PNGPixelLanes.store(word >> 32, at: below + before, size: size) }
    unsafe raw = PNGPixelLanes(pair: nextBelow << 32)
    unsafe corner = up
    unsafe up = PNGPixelLanes()
    unsafe up.lanes.highHalf = left.lanes.lowHalf
    unsafe left = predict(
      raw, left: left, up: up, corner: corner, base: base(up: up, corner: corner))
    unsafe PNGPixelLanes.storeExactly(left.word >> 32, at: below + x, size: size)
  }
}

extension PNGPixelLanes {
  /// Two pixels of up to 4 bytes, the second in the high half.
  @inline(__always)
  init(pair word: UInt64) {
    let bytes = unsafe unsafeBitCast(word.littleEndian, to: SIMD8<UInt8>.self)
    unsafe self.init(SIMD8(truncatingIfNeeded: bytes))
  }
}
