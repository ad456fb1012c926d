/// Functions that draw rows of palette indices onto a canvas of RGBA words.
///
/// They examine sixteen indices at a time. If all of them are transparent, nothing is written. If all are equal, a
/// vector of one colour is stored four times. Otherwise each index is looked up, and whole vectors are stored.
/// Transparency needs no branch: a transparent entry is the word 0, and every other entry has its top bit set, so the
/// sign of the looked-up word decides whether that word or the canvas's pixel is stored.
///
/// The following were tried and were slower: one store per pixel, pairs of pixels in 64-bit words, a test for groups
/// with no transparent index, groups of 32, and a loop that skips 64 transparent indices at a time (which gains a tenth
/// on screen recordings and loses as much wherever transparency is scattered).
///
/// The code is unsafe for speed, because drawing is half of the cost of decoding a GIF. Each call accesses only `count`
/// elements at the given addresses and entries 0 to 255 of the palette. The canvas must not overlap the indices.
package enum IndexedBlitter {
  typealias Pixels = SIMD4<UInt32>

  /// Draws `height` rows of `width` indices, skipping pixels whose index is `transparent`.
  ///
  /// `indexStride` is the distance between rows of indices, in indices, and `canvasStride` is the distance between rows
  /// of the canvas, in pixels. The 256 entries of `palette` have the top bit of their alpha set, except for the
  /// transparent entry, which may have any value.
  @unsafe package static func draw(
    indices: UnsafePointer<UInt8>, indexStride: Int, width: Int, height: Int,
    palette: UnsafePointer<UInt32>, transparent: UInt8?,
    into canvas: UnsafeMutablePointer<UInt32>, canvasStride: Int
  ) {
    guard width > 0, height > 0 else { return }
    var (rows, count) = (height, width)
    if width == indexStride && width == canvasStride { (rows, count) = (1, width * height) }
    guard let transparent else {
      for row in 0..<rows {
        unsafe opaque(
          indices: indices + row * indexStride, count: count, palette: palette,
          into: canvas + row * canvasStride)
      }
      return
    }
    unsafe withTransparentEntry(of: palette, at: transparent) { palette in
      for row in 0..<rows {
        unsafe blend(
          indices: indices + row * indexStride, count: count, palette: palette,
          transparent: transparent, into: canvas + row * canvasStride)
      }
    }
  }

  /// Draws one row, skipping pixels whose index is `transparent`.
  @unsafe package static func over(
    indices: UnsafePointer<UInt8>, count: Int, palette: UnsafePointer<UInt32>,
    transparent: UInt8?, into canvas: UnsafeMutablePointer<UInt32>
  ) {
    unsafe draw(
      indices: indices, indexStride: count, width: count, height: 1, palette: palette,
      transparent: transparent, into: canvas, canvasStride: count)
  }

  /// Draws one row, replacing every pixel.
  @inline(never)
  @unsafe package static func opaque(
    indices: UnsafePointer<UInt8>, count: Int, palette: UnsafePointer<UInt32>,
    into canvas: UnsafeMutablePointer<UInt32>
  ) {
    guard count >= 16 else {
      for i in 0..<max(count, 0) { unsafe canvas[i] = palette[Int(indices[i])] }
      return
    }
    var i = 0
    while i &+ 16 <= count {
      let group = unsafe Group(indices + i)
      if group.isUniform {
        unsafe splat(group, palette, canvas + i)
      } else {
        unsafe replace(group, palette, canvas + i)
      }
      i &+= 16
    }
    // The last group overlaps the previous one, because drawing a pixel twice changes nothing.
    i = count &- 16
    unsafe replace(Group(indices + i), palette, canvas + i)
  }

  /// Draws one row like ``over(indices:count:palette:transparent:into:)``, with a palette whose transparent entry is 0.
  @inline(never)
  @unsafe private static func blend(
    indices: UnsafePointer<UInt8>, count: Int, palette: UnsafePointer<UInt32>,
    transparent: UInt8, into canvas: UnsafeMutablePointer<UInt32>
  ) {
    guard count >= 16 else {
      for i in 0..<max(count, 0) {
        let index = unsafe indices[i]
        if index != transparent { unsafe canvas[i] = palette[Int(index)] }
      }
      return
    }
    let none = UInt64(transparent) &* 0x0101_0101_0101_0101
    var i = 0
    while i &+ 16 <= count {
      let group = unsafe Group(indices + i)
      if group.isFilled(with: none) {
        i &+= 16
        continue
      }
      if group.isUniform {
        unsafe splat(group, palette, canvas + i)
      } else {
        unsafe blend(group, palette, canvas + i)
      }
      i &+= 16
    }
    i = count &- 16
    unsafe blend(Group(indices + i), palette, canvas + i)
  }
}

extension IndexedBlitter {
  /// Sixteen indices in two words. The first index of each word is in its lowest byte.
  ///
  /// The type is safe to store: only `init` and `forEachFour`, which are unsafe, dereference the address.
  @safe struct Group {
    let (a, b): (UInt64, UInt64)
    /// The address of the indices, which must stay valid and unchanged until the last `forEachFour`.
    private let indices: UnsafePointer<UInt8>

    @inline(__always)
    @unsafe init(_ indices: UnsafePointer<UInt8>) {
      unsafe self.indices = indices
      let from = unsafe UnsafeRawPointer(indices)
      a = UInt64(littleEndian: unsafe from.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
      b = UInt64(littleEndian: unsafe from.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Whether all indices are equal: the words are equal, and the first word equals its own rotation by a byte.
    @inline(__always)
    var isUniform: Bool { (a ^ b) | (a ^ (a &>> 8 | a &<< 56)) == 0 }

    /// Returns whether both words equal `value`, so that each index equals the byte that `value` repeats.
    @inline(__always)
    func isFilled(with value: UInt64) -> Bool { (a ^ value) | (b ^ value) == 0 }
  }

  /// Stores sixteen pixels of the first index's colour.
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

  /// Stores the colours of sixteen indices, except colours that are 0.
  @inline(__always)
  @unsafe static func blend(
    _ group: Group, _ palette: UnsafePointer<UInt32>, _ canvas: UnsafeMutablePointer<UInt32>
  ) {
    let to = UnsafeMutableRawPointer(canvas)
    unsafe group.forEachFour(in: palette) { pixels, offset in
      // All bits of a lane are set if the top bit of the pixel's alpha is set.
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
      // The copy has 256 elements, so it has an address.
      if let address = copy.baseAddress { unsafe body(address) }
    }
  }
}

extension IndexedBlitter.Group {
  /// Looks up the indices and calls `body` four times, with four colours and their offset in bytes.
  ///
  /// The lower halves of the words are split in registers, and the upper halves are read again from
  /// memory. On x86-64 extracting a byte of an upper half takes three instructions from a register,
  /// but one from memory. Reading all bytes from memory was slower.
  ///
  /// Unsafe: reads entries 0 to 255 of `palette`, and rereads bytes 4 to 7 and 12 to 15 of the
  /// indices after `body` has stored the pixels before them, so the canvas must not overlap the
  /// indices.
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

extension IndexedBlitter {
  /// Returns the greatest of `bytes`, or 0 if there are none.
  ///
  /// The bytes are compared in vectors of 16, because vectors of 64 bytes are split lane by lane. The last vectors
  /// overlap earlier ones so that they end at the last byte.
  static func greatestIndex(in bytes: borrowing RawSpan) -> Int {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return 0 }
      return unsafe maximum(start, count: bytes.count)
    }
  }

  @unsafe private static func maximum(_ bytes: UnsafeRawPointer, count: Int) -> Int {
    typealias Block = SIMD16<UInt8>
    @inline(__always) func larger(_ a: Block, _ b: Block) -> Block {
      a.replacing(with: b, where: a .< b)
    }
    @inline(__always) func block(_ at: Int) -> Block {
      unsafe bytes.loadUnaligned(fromByteOffset: at, as: Block.self)
    }
    guard count >= 16 else {
      return Int(
        (0..<count).reduce(0) { unsafe max($0, bytes.load(fromByteOffset: $1, as: UInt8.self)) })
    }
    var (a, b) = (block(0), block(count - 16))
    var (c, d) = (a, b)
    var position = 0
    while position &+ 64 <= count {
      a = larger(a, block(position))
      b = larger(b, block(position &+ 16))
      c = larger(c, block(position &+ 32))
      d = larger(d, block(position &+ 48))
      position &+= 64
    }
    while position &+ 16 <= count {
      a = larger(a, block(position))
      position &+= 16
    }
    return Int(larger(larger(a, b), larger(c, d)).max())
  }
}
