extension IndexedBlitter {
  /// Sixteen indices, the first in the lowest byte.
  @inline(__always)
  @unsafe static func sixteen(_ indices: UnsafePointer<UInt8>) -> (UInt64, UInt64) {
    let from = unsafe UnsafeRawPointer(indices)
    return unsafe (
      UInt64(littleEndian: from.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
      UInt64(littleEndian: from.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    )
  }

  /// Whether all sixteen bytes are equal: both halves are, and one is its own rotation by a byte.
  @inline(__always)
  static func isUniform(_ low: UInt64, _ high: UInt64) -> Bool {
    (low ^ high) | (low ^ (low &>> 8 | low &<< 56)) == 0
  }

  /// Whether 64 indices equal the bytes of `value`.
  @inline(__always)
  @unsafe static func isUniform64(_ indices: UnsafePointer<UInt8>, _ value: UInt64) -> Bool {
    let from = unsafe UnsafeRawPointer(indices)
    let wanted = SIMD2<UInt64>(repeating: value)
    var differences = SIMD2<UInt64>(repeating: 0)
    for offset in stride(from: 0, to: 64, by: 16) {
      let lanes = unsafe from.loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self)
      differences |= lanes ^ wanted
    }
    return differences[0] | differences[1] == 0
  }

  /// Stores the run of one colour that starts at `start`, sixteen pixels at a time; where it ends.
  @inline(__always)
  @unsafe static func splat(
    _ value: UInt64, indices: UnsafePointer<UInt8>, from start: Int, count: Int,
    _ palette: UnsafePointer<UInt32>, _ canvas: UnsafeMutablePointer<UInt32>
  ) -> Int {
    let pixels = unsafe Pixels(repeating: palette[Int(truncatingIfNeeded: value & 255)])
    var i = start
    while true {
      let to = unsafe UnsafeMutableRawPointer(canvas + i)
      unsafe to.storeBytes(of: pixels, toByteOffset: 0, as: Pixels.self)
      unsafe to.storeBytes(of: pixels, toByteOffset: 16, as: Pixels.self)
      unsafe to.storeBytes(of: pixels, toByteOffset: 32, as: Pixels.self)
      unsafe to.storeBytes(of: pixels, toByteOffset: 48, as: Pixels.self)
      i &+= 16
      guard i &+ 16 <= count else { return i }
      let (low, high) = unsafe sixteen(indices + i)
      guard (low ^ value) | (high ^ value) == 0 else { return i }
    }
  }

  /// The colours of the four indices that lie in `indices` from bit `shift` on.
  @inline(__always)
  @unsafe static func four(
    _ indices: UInt64, _ shift: UInt64, _ palette: UnsafePointer<UInt32>
  ) -> Pixels {
    let word = UInt32(truncatingIfNeeded: indices &>> shift)
    return unsafe Pixels(
      palette[Int(truncatingIfNeeded: word & 255)],
      palette[Int(truncatingIfNeeded: word &>> 8 & 255)],
      palette[Int(truncatingIfNeeded: word &>> 16 & 255)],
      palette[Int(truncatingIfNeeded: word &>> 24)])
  }

  /// Stores four pixels, but for those that are 0.
  @inline(__always)
  @unsafe static func keepTransparent(_ pixels: Pixels, _ to: UnsafeMutableRawPointer) {
    let drawn = Pixels(truncatingIfNeeded: SIMD4<Int32>(truncatingIfNeeded: pixels) &>> 31)
    let old = unsafe to.loadUnaligned(as: Pixels.self)
    unsafe to.storeBytes(of: pixels | (old & ~drawn), as: Pixels.self)
  }

  /// Calls `body` with `palette`, or with a copy of it whose entry `transparent` is 0.
  @unsafe static func withTransparentEntry(
    of palette: UnsafePointer<UInt32>, at transparent: UInt8,
    _ body: (UnsafePointer<UInt32>) -> Void
  ) {
    if unsafe palette[Int(transparent)] == 0 { return unsafe body(palette) }
    unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 256) { copy in
      for i in 0..<256 { unsafe copy.initializeElement(at: i, to: palette[i]) }
      unsafe copy[Int(transparent)] = 0
      // 256 elements, so there is an address.
      if let address = copy.baseAddress { unsafe body(address) }
    }
  }
}
