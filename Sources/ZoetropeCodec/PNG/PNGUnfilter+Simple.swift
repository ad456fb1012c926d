// Unsafe code: bounds as in PNGUnfilter.swift. Each loop reads and writes `count` bytes of `row`;
// words of 3- and 6-byte pixels reach into the 8 bytes after it for reading, never for writing.
extension PNGUnfilter {
  /// Adds the row above.
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

  /// Adds the pixel to the left.
  @unsafe
  static func undoSub<Pixel: PNGPixelSize>(
    _ row: UnsafeMutableRawPointer, count: Int, _: Pixel.Type
  ) {
    let size = Pixel.byteCount
    var left = unsafe PNGPixelLanes()
    var next = unsafe PNGPixelLanes(at: row, size: size)
    var x = 0
    // The next pixel is read before this one is written: a word of 3 or 6 bytes runs into it.
    while x &+ size < count {
      unsafe left = left &+ next
      unsafe next = PNGPixelLanes(at: row + (x &+ size), size: size)
      unsafe left.store(at: row + x, size: size)
      x &+= size
    }
    unsafe PNGPixelLanes.storeExactly((left &+ next).word, at: row + x, size: size)
  }

  /// Adds half the sum of left and above, rounded down; nil above counts as zero.
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
