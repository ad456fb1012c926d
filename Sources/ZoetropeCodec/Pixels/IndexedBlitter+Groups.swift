extension IndexedBlitter {
  /// Sixteen indices, in each word the first in the lowest byte.
  ///
  /// Safe to have: only `init` and `forEachFour`, both unsafe, follow the address.
  @safe struct Group {
    let (a, b): (UInt64, UInt64)
    /// Where they were read; to be there, and unchanged, until the last `forEachFour`.
    private let indices: UnsafePointer<UInt8>

    @inline(__always)
    @unsafe init(_ indices: UnsafePointer<UInt8>) {
      unsafe self.indices = indices
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

  /// Stores the colours of sixteen indices.
  @inline(__always)
  @unsafe static func replace(
    _ group: Group, _ palette: UnsafePointer<UInt32>, _ canvas: UnsafeMutablePointer<UInt32>
  ) {
    let to = UnsafeMutableRawPointer(canvas)
    unsafe group.forEachFour(in: palette) { pixels, offset in
      unsafe to.storeBytes(of: pixels, toByteOffset: offset, as: Pixels.self)
    }
  }

  /// Stores the colours of sixteen indices, but for those that are 0.
  @inline(__always)
  @unsafe static func blend(
    _ group: Group, _ palette: UnsafePointer<UInt32>, _ canvas: UnsafeMutablePointer<UInt32>
  ) {
    let to = UnsafeMutableRawPointer(canvas)
    unsafe group.forEachFour(in: palette) { pixels, offset in
      // All ones where the top bit of alpha is set.
      let drawn = Pixels(truncatingIfNeeded: SIMD4<Int32>(truncatingIfNeeded: pixels) &>> 31)
      let under = unsafe to.loadUnaligned(fromByteOffset: offset, as: Pixels.self)
      unsafe to.storeBytes(of: pixels | (under & ~drawn), toByteOffset: offset, as: Pixels.self)
    }
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

extension IndexedBlitter.Group {
  /// Looks the indices up, and calls `body` with four colours and their offset in bytes, four times.
  ///
  /// The lower halves of the words are taken apart, the others read again: on x86-64 a byte of an
  /// upper half takes three instructions, one of memory a single one. All from memory was slower.
  ///
  /// Unsafe: reads entries 0 to 255 of `palette`, and bytes 4 to 7 and 12 to 15 of the indices again
  /// when `body` has stored the pixels before them, so the canvas must not overlap the indices.
  @inline(__always)
  @unsafe func forEachFour(
    in palette: UnsafePointer<UInt32>, _ body: (IndexedBlitter.Pixels, Int) -> Void
  ) {
    @inline(__always) func four(_ word: UInt64) -> IndexedBlitter.Pixels {
      unsafe IndexedBlitter.Pixels(
        palette[Int(truncatingIfNeeded: word & 255)],
        palette[Int(truncatingIfNeeded: word &>> 8 & 255)],
        palette[Int(truncatingIfNeeded: word &>> 16 & 255)],
        palette[Int(truncatingIfNeeded: word &>> 24 & 255)])
    }
    @inline(__always) func four(at start: Int) -> IndexedBlitter.Pixels {
      unsafe IndexedBlitter.Pixels(
        palette[Int(indices[start])], palette[Int(indices[start &+ 1])],
        palette[Int(indices[start &+ 2])], palette[Int(indices[start &+ 3])])
    }
    body(four(a), 0)
    body(four(at: 4), 16)
    body(four(b), 32)
    body(four(at: 12), 48)
  }
}
