extension IndexedBlitter {
  /// Sixteen indices, in each word the first in the lowest byte.
  struct Group {
    var (a, b): (UInt64, UInt64)

    @inline(__always)
    @unsafe init(_ indices: UnsafePointer<UInt8>) {
      let from = unsafe UnsafeRawPointer(indices)
      a = UInt64(littleEndian: unsafe from.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
      b = UInt64(littleEndian: unsafe from.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Whether all are equal: both words are, and one is its own rotation by a byte.
    @inline(__always)
    var isUniform: Bool { (a ^ b) | (a ^ (a &>> 8 | a &<< 56)) == 0 }

    /// Whether all equal the bytes of `value`.
    @inline(__always)
    func isFilled(with value: UInt64) -> Bool { (a ^ value) | (b ^ value) == 0 }
  }

  /// Stores sixteen pixels of the colour of the first index.
  @inline(__always)
  @unsafe static func splat(
    _ group: Group, _ palette: UnsafePointer<UInt32>, _ canvas: UnsafeMutablePointer<UInt32>
  ) {
    let to = UnsafeMutableRawPointer(canvas)
    let pixels = unsafe Pixels(repeating: palette[Int(truncatingIfNeeded: group.a & 255)])
    unsafe to.storeBytes(of: pixels, toByteOffset: 0, as: Pixels.self)
    unsafe to.storeBytes(of: pixels, toByteOffset: 16, as: Pixels.self)
    unsafe to.storeBytes(of: pixels, toByteOffset: 32, as: Pixels.self)
    unsafe to.storeBytes(of: pixels, toByteOffset: 48, as: Pixels.self)
  }

  /// The colours of four indices, the first in the lowest byte.
  @inline(__always)
  @unsafe static func four(_ word: UInt32, _ palette: UnsafePointer<UInt32>) -> Pixels {
    unsafe Pixels(
      palette[Int(truncatingIfNeeded: word & 255)],
      palette[Int(truncatingIfNeeded: word &>> 8 & 255)],
      palette[Int(truncatingIfNeeded: word &>> 16 & 255)],
      palette[Int(truncatingIfNeeded: word &>> 24)])
  }

  /// Stores the colours of sixteen indices.
  @inline(__always)
  @unsafe static func replace(
    _ group: Group, _ palette: UnsafePointer<UInt32>, _ canvas: UnsafeMutablePointer<UInt32>
  ) {
    let to = UnsafeMutableRawPointer(canvas)
    @inline(__always) func four(_ word: UInt64, at offset: Int) {
      let pixels = unsafe Self.four(UInt32(truncatingIfNeeded: word), palette)
      unsafe to.storeBytes(of: pixels, toByteOffset: offset, as: Pixels.self)
    }
    four(group.a, at: 0)
    four(group.a &>> 32, at: 16)
    four(group.b, at: 32)
    four(group.b &>> 32, at: 48)
  }

  /// Stores the colours of sixteen indices, but for those that are 0.
  @inline(__always)
  @unsafe static func blend(
    _ group: Group, _ palette: UnsafePointer<UInt32>, _ canvas: UnsafeMutablePointer<UInt32>
  ) {
    let to = UnsafeMutableRawPointer(canvas)
    @inline(__always) func four(_ word: UInt64, at offset: Int) {
      let pixels = unsafe Self.four(UInt32(truncatingIfNeeded: word), palette)
      // All ones where the top bit of alpha is set.
      let drawn = Pixels(truncatingIfNeeded: SIMD4<Int32>(truncatingIfNeeded: pixels) &>> 31)
      let under = unsafe to.loadUnaligned(fromByteOffset: offset, as: Pixels.self)
      unsafe to.storeBytes(of: pixels | (under & ~drawn), toByteOffset: offset, as: Pixels.self)
    }
    four(group.a, at: 0)
    four(group.a &>> 32, at: 16)
    four(group.b, at: 32)
    four(group.b &>> 32, at: 48)
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
