/// Writes one row of a frame's samples onto a row of a canvas, replacing what was there.
///
/// Unsafe code: rows are addressed by pointer. `source` has `count` pixels of the layout and nothing
/// past them is read; `target` has room for `count` pixels; they do not overlap.
package enum RowExpander {
  /// Writes RGBA of 8 bits; of 16-bit samples the high byte.
  ///
  /// - Parameter palette: 256 colours as `RGBA.word`; read for ``FramePixels/Layout/indexed8`` only.
  @unsafe
  package static func write(
    _ layout: FramePixels.Layout, from source: UnsafeRawPointer,
    to target: UnsafeMutablePointer<UInt32>, count: Int, palette: UnsafePointer<UInt32>
  ) {
    switch layout {
    case .indexed8:
      unsafe IndexedBlitter.opaque(
        indices: source.assumingMemoryBound(to: UInt8.self), count: count, palette: palette,
        into: target)
    case .grey8: unsafe writeGrey(source, target, count)
    case .greyAlpha8: unsafe writeGreyAlpha(source, target, count)
    case .rgb8: unsafe writeRGB(source, target, count)
    case .rgba8:
      unsafe UnsafeMutableRawPointer(target).copyMemory(from: source, byteCount: max(count, 0) * 4)
    case .grey16: unsafe writeDeepGrey(source, target, count)
    case .greyAlpha16: unsafe writeDeepGreyAlpha(source, target, count)
    case .rgb16: unsafe writeDeepRGB(source, target, count)
    case .rgba16: unsafe writeDeepRGBA(source, target, count)
    }
  }

  @unsafe
  private static func writeGrey(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int
  ) {
    var x = 0
    while x &+ 8 <= count {
      let grey = unsafe source.loadUnaligned(fromByteOffset: x, as: SIMD8<UInt8>.self)
      var twice = SIMD16<UInt8>(repeating: 255)
      twice.evenHalf = grey
      let greyAlpha = unsafe unsafeBitCast(twice, to: SIMD8<UInt16>.self)
      unsafe store(greyAlpha, target + x)
      x &+= 8
    }
    while x < count {
      let grey = unsafe UInt32(source.load(fromByteOffset: x, as: UInt8.self))
      unsafe target[x] = grey &* 0x01_0101 | 0xff00_0000
      x &+= 1
    }
  }

  @unsafe
  private static func writeGreyAlpha(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int
  ) {
    var x = 0
    while x &+ 8 <= count {
      let words = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: SIMD8<UInt16>.self)
      unsafe store(words, target + x)
      x &+= 8
    }
    while x < count {
      let word = unsafe UInt32(source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self))
      unsafe target[x] = (word & 0xff) &* 0x01_0101 | (word & 0xff00) << 16
      x &+= 1
    }
  }

  /// Writes eight pixels whose grey and alpha are the low and high halves of the lanes.
  @inline(always) @unsafe
  private static func store(_ words: SIMD8<UInt16>, _ target: UnsafeMutablePointer<UInt32>) {
    var pixels = SIMD16<UInt16>.zero
    pixels.evenHalf = words & 0xff | words &<< 8
    pixels.oddHalf = words
    unsafe UnsafeMutableRawPointer(target).storeBytes(of: pixels, as: SIMD16<UInt16>.self)
  }

  @unsafe
  private static func writeRGB(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int
  ) {
    var x = 0
    // Each word takes one byte of the next pixel along, so the last pixel of the row is left out.
    while x &+ 8 < count {
      let pixel = unsafe source + x &* 3
      let first = unsafe SIMD4(
        pixel.loadUnaligned(as: UInt32.self), (pixel + 3).loadUnaligned(as: UInt32.self),
        (pixel + 6).loadUnaligned(as: UInt32.self), (pixel + 9).loadUnaligned(as: UInt32.self))
      let second = unsafe SIMD4(
        (pixel + 12).loadUnaligned(as: UInt32.self), (pixel + 15).loadUnaligned(as: UInt32.self),
        (pixel + 18).loadUnaligned(as: UInt32.self), (pixel + 21).loadUnaligned(as: UInt32.self))
      let pixels = SIMD8(lowHalf: first, highHalf: second) | 0xff00_0000
      unsafe UnsafeMutableRawPointer(target + x).storeBytes(of: pixels, as: SIMD8<UInt32>.self)
      x &+= 8
    }
    while x < count {
      let pixel = unsafe source + x &* 3
      let low = unsafe UInt32(pixel.loadUnaligned(as: UInt16.self))
      let high = unsafe UInt32((pixel + 2).load(as: UInt8.self))
      unsafe target[x] = low | high << 16 | 0xff00_0000
      x &+= 1
    }
  }

  @unsafe
  private static func writeDeepGrey(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int
  ) {
    for x in 0..<max(count, 0) {
      let grey = unsafe UInt32(source.load(fromByteOffset: x &* 2, as: UInt8.self))
      unsafe target[x] = grey &* 0x01_0101 | 0xff00_0000
    }
  }

  @unsafe
  private static func writeDeepGreyAlpha(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int
  ) {
    for x in 0..<max(count, 0) {
      let word = unsafe source.loadUnaligned(fromByteOffset: x &* 4, as: UInt32.self)
      unsafe target[x] = (word & 0xff) &* 0x01_0101 | (word & 0xff_0000) << 8
    }
  }

  @unsafe
  private static func writeDeepRGB(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int
  ) {
    for x in 0..<max(count, 0) {
      let pixel = unsafe source + x &* 6
      let red = unsafe UInt32(pixel.load(as: UInt8.self))
      let green = unsafe UInt32((pixel + 2).load(as: UInt8.self))
      let blue = unsafe UInt32((pixel + 4).load(as: UInt8.self))
      unsafe target[x] = red | green << 8 | blue << 16 | 0xff00_0000
    }
  }

  @unsafe
  private static func writeDeepRGBA(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int
  ) {
    var x = 0
    // The high byte comes first, so it is the low half of a lane that was read as it lies.
    while x &+ 2 <= count {
      let lanes = unsafe source.loadUnaligned(fromByteOffset: x &* 8, as: SIMD8<UInt16>.self)
      let bytes = SIMD8<UInt8>(truncatingIfNeeded: lanes)
      unsafe UnsafeMutableRawPointer(target + x).storeBytes(of: bytes, as: SIMD8<UInt8>.self)
      x &+= 2
    }
    if x < count {
      let lanes = unsafe source.loadUnaligned(fromByteOffset: x &* 8, as: SIMD4<UInt16>.self)
      let bytes = SIMD4<UInt8>(truncatingIfNeeded: lanes)
      unsafe UnsafeMutableRawPointer(target + x).storeBytes(of: bytes, as: SIMD4<UInt8>.self)
    }
  }
}
