/// Functions that write one row of a frame's samples onto a row of a canvas, replacing the contents of that row.
///
/// Unsafe code: rows are addressed by pointer. `source` has `count` pixels of the layout, and nothing past them is
/// read. `target` has room for `count` pixels. The two rows do not overlap, unless a pixel of the layout takes four
/// bytes and the target begins at or before the source.
package enum RowExpander {
  /// Writes 8-bit RGBA. 16-bit samples are reduced to their high byte.
  ///
  /// - Parameter palette: For a layout with a palette, its 256 colours as `RGBA.word`. For a layout with a transparent
  ///   colour, that colour. Other layouts do not use this parameter.
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
    case .rgb8: unsafe writeRGB(source, target, count, key: nil)
    case .keyedRGB8: unsafe writeRGB(source, target, count, key: palette[0])
    case .rgba8:
      unsafe UnsafeMutableRawPointer(target).copyMemory(from: source, byteCount: max(count, 0) * 4)
    case .keyedGrey16, .keyedRGB16:
      unsafe write(layout.withoutKey, from: source, to: target, count: count, palette: palette)
      unsafe clearKeyed(source, target, count, size: layout.bytesPerPixel, palette)
    case .grey16: unsafe writeDeepGrey(source, target, count)
    case .greyAlpha16: unsafe writeDeepGreyAlpha(source, target, count)
    case .rgb16: unsafe writeDeepRGB(source, target, count)
    case .rgba16: unsafe writeDeepRGBA(source, target, count)
    }
  }

  /// Writes `count` rows that are one pixel wide as 8-bit RGBA. `sourcePitch` and `targetPitch` are the distances in
  /// bytes from one row to the next.
  @unsafe
  package static func writeColumn(
    _ layout: FramePixels.Layout, from source: UnsafeRawPointer, pitch sourcePitch: Int,
    to target: UnsafeMutableRawPointer, pitch targetPitch: Int, count: Int,
    palette: UnsafePointer<UInt32>
  ) {
    var (source, target) = unsafe (source, target)
    for _ in 0..<max(count, 0) {
      let deep = unsafe deepPixel(layout, source, 0, palette)
      let pixel = SIMD4<UInt8>(truncatingIfNeeded: deep &>> 8)
      unsafe target.storeBytes(of: pixel, as: SIMD4<UInt8>.self)
      unsafe source += sourcePitch
      unsafe target += targetPitch
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

  /// Writes eight pixels. The low half of each lane is the grey of a pixel, and the high half is its alpha.
  @inline(always) @unsafe
  private static func store(_ words: SIMD8<UInt16>, _ target: UnsafeMutablePointer<UInt32>) {
    var pixels = SIMD16<UInt16>.zero
    pixels.evenHalf = words & 0xff | words &<< 8
    pixels.oddHalf = words
    unsafe UnsafeMutableRawPointer(target).storeBytes(of: pixels, as: SIMD16<UInt16>.self)
  }

  /// Writes RGB pixels as RGBA.
  ///
  /// - Parameter key: The colour of transparent pixels, without alpha, or nil if all pixels are opaque.
  @inline(__always) @unsafe
  private static func writeRGB(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int, key: UInt32?
  ) {
    typealias Pixels = SIMD4<UInt32>
    @inline(__always) func pixels(_ words: Pixels) -> Pixels {
      guard let key else { return words | 0xff00_0000 }
      let colors = words & 0xff_ffff
      return colors | Pixels(repeating: 0xff00_0000).replacing(with: 0, where: colors .== key)
    }
    var x = 0
    // Each word includes one byte of the next pixel, so the last pixel of the row is excluded.
    while x &+ 8 < count {
      let pixel = unsafe source + x &* 3
      let first = unsafe Pixels(
        pixel.loadUnaligned(as: UInt32.self), (pixel + 3).loadUnaligned(as: UInt32.self),
        (pixel + 6).loadUnaligned(as: UInt32.self), (pixel + 9).loadUnaligned(as: UInt32.self))
      let second = unsafe Pixels(
        (pixel + 12).loadUnaligned(as: UInt32.self), (pixel + 15).loadUnaligned(as: UInt32.self),
        (pixel + 18).loadUnaligned(as: UInt32.self), (pixel + 21).loadUnaligned(as: UInt32.self))
      let to = unsafe UnsafeMutableRawPointer(target + x)
      unsafe to.storeBytes(of: pixels(first), as: Pixels.self)
      unsafe (to + 16).storeBytes(of: pixels(second), as: Pixels.self)
      x &+= 8
    }
    while x < count {
      let pixel = unsafe source + x &* 3
      let low = unsafe UInt32(pixel.loadUnaligned(as: UInt16.self))
      let color = unsafe low | UInt32((pixel + 2).load(as: UInt8.self)) << 16
      unsafe target[x] = color == key ? color : color | 0xff00_0000
      x &+= 1
    }
  }

  /// Makes a pixel of `target` transparent if the `size` bytes of that pixel in `source` equal the key in `palette`.
  @unsafe
  private static func clearKeyed(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int, size: Int,
    _ palette: UnsafePointer<UInt32>
  ) {
    for x in 0..<max(count, 0) where unsafe isKey(source + x &* size, size: size, palette) {
      unsafe target[x] &= 0xff_ffff
    }
  }

  /// Returns whether the `size` bytes of a pixel, 2, 3 or 6, equal the key in `palette`.
  @inline(__always) @unsafe
  static func isKey(
    _ pixel: UnsafeRawPointer, size: Int, _ palette: UnsafePointer<UInt32>
  ) -> Bool {
    let low = unsafe UInt32(UInt16(littleEndian: pixel.loadUnaligned(as: UInt16.self)))
    switch size {
    case 2: return unsafe low == palette[0]
    case 3: return unsafe low | UInt32((pixel + 2).load(as: UInt8.self)) << 16 == palette[0]
    default:
      let middle = unsafe UInt16(littleEndian: (pixel + 2).loadUnaligned(as: UInt16.self))
      let high = unsafe UInt16(littleEndian: (pixel + 4).loadUnaligned(as: UInt16.self))
      return unsafe low | UInt32(middle) << 16 == palette[0] && UInt32(high) == palette[1]
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
    // The high byte of a sample comes first in memory, so it is the low half of a little-endian lane.
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

extension FramePixels.Layout {
  /// The layout with the same samples but no transparent colour.
  var withoutKey: Self {
    switch self {
    case .keyedRGB8: .rgb8
    case .keyedGrey16: .grey16
    case .keyedRGB16: .rgb16
    default: self
    }
  }
}

extension RowExpander {
  /// Writes 16-bit RGBA in the machine's byte order. 8-bit samples are multiplied by 257.
  ///
  /// - Parameter palette: For a layout with a palette, its 256 colours as `RGBA.word`. For a layout with a transparent
  ///   colour, that colour. Other layouts do not use this parameter.
  @unsafe
  package static func writeDeep(
    _ layout: FramePixels.Layout, from source: UnsafeRawPointer,
    to target: UnsafeMutablePointer<SIMD4<UInt16>>, count: Int, palette: UnsafePointer<UInt32>
  ) {
    for x in 0..<max(count, 0) {
      unsafe target[x] = deepPixel(layout, source, x, palette)
    }
  }

  /// Returns pixel `x` of a row as 16-bit red, green, blue and alpha.
  @inline(always) @unsafe
  static func deepPixel(
    _ layout: FramePixels.Layout, _ source: UnsafeRawPointer, _ x: Int,
    _ palette: UnsafePointer<UInt32>
  ) -> SIMD4<UInt16> {
    var pixel = unsafe deepColor(layout, source, x, palette)
    switch layout {
    case .keyedRGB8, .keyedGrey16, .keyedRGB16:
      let size = layout.bytesPerPixel
      if unsafe isKey(source + x &* size, size: size, palette) { pixel.w = 0 }
    default: break
    }
    return pixel
  }

  /// Returns pixel `x` of a row like ``deepPixel(_:_:_:_:)``, but ignores the key.
  @inline(always) @unsafe
  private static func deepColor(
    _ layout: FramePixels.Layout, _ source: UnsafeRawPointer, _ x: Int,
    _ palette: UnsafePointer<UInt32>
  ) -> SIMD4<UInt16> {
    func shallow(_ sample: Int) -> UInt16 {
      unsafe UInt16(source.load(fromByteOffset: sample, as: UInt8.self)) &* 257
    }
    func deep(_ sample: Int) -> UInt16 {
      unsafe UInt16(bigEndian: source.loadUnaligned(fromByteOffset: sample &* 2, as: UInt16.self))
    }
    switch layout {
    case .indexed8:
      let color = unsafe RGBA(word: palette[Int(source.load(fromByteOffset: x, as: UInt8.self))])
      let bytes = SIMD4(color.red, color.green, color.blue, color.alpha)
      return SIMD4<UInt16>(truncatingIfNeeded: bytes) &* 257
    case .grey8: return SIMD4(repeating: shallow(x)).opaque
    case .greyAlpha8:
      let grey = shallow(2 &* x)
      return SIMD4(grey, grey, grey, shallow(2 &* x &+ 1))
    case .rgb8, .keyedRGB8:
      return SIMD4(shallow(3 &* x), shallow(3 &* x &+ 1), shallow(3 &* x &+ 2), 0).opaque
    case .rgba8:
      return SIMD4(
        shallow(4 &* x), shallow(4 &* x &+ 1), shallow(4 &* x &+ 2), shallow(4 &* x &+ 3))
    case .grey16, .keyedGrey16: return SIMD4(repeating: deep(x)).opaque
    case .greyAlpha16:
      let grey = deep(2 &* x)
      return SIMD4(grey, grey, grey, deep(2 &* x &+ 1))
    case .rgb16, .keyedRGB16:
      return SIMD4(deep(3 &* x), deep(3 &* x &+ 1), deep(3 &* x &+ 2), 0).opaque
    case .rgba16:
      return SIMD4(deep(4 &* x), deep(4 &* x &+ 1), deep(4 &* x &+ 2), deep(4 &* x &+ 3))
    }
  }
}

extension SIMD4<UInt16> {
  /// This colour with the alpha of an opaque pixel.
  fileprivate var opaque: Self {
    var pixel = self
    pixel.w = 65535
    return pixel
  }
}

extension FramePixels {
  /// Copies `bytes` into ``storage`` at `offset`. The caller must be this object's sole owner.
  package func store(_ bytes: borrowing RawSpan, at offset: Int = 0) {
    unsafe storage.store(bytes, at: offset)
  }

  /// Moves the samples of a whole frame to the position of `rect` on the canvas, as RGBA. Does nothing if the frame
  /// will be drawn onto the canvas, or is incomplete.
  ///
  /// Unsafe: reads `height` rows of samples, which end within the storage, and writes as many rows of `rect`, which
  /// lies on a canvas whose block is the storage. ``InPlaceLayout`` explains why no row overwrites samples that are
  /// still to be read.
  func expandInPlace(at rect: PixelRect) {
    let (storage, content) = (storage, content)
    guard let form = inPlaceLayout, storage.byteCount >= form.byteCount, content.isComplete
    else { return }
    let place = rect.y * form.bytesPerRow + rect.x * 4
    let source = unsafe UnsafeRawPointer(storage.baseAddress) + content.offset
    let target = unsafe storage.baseAddress + place
    unsafe palette.withUnsafeBufferPointer { palette in
      guard let colors = palette.baseAddress else { return }
      for y in 0..<content.height {
        unsafe RowExpander.write(
          content.layout, from: source + y * content.bytesPerRow,
          to: (target + y * form.bytesPerRow).assumingMemoryBound(to: UInt32.self),
          count: content.width, palette: colors)
      }
    }
    // Clear the padding only after the loop, because until then it may contain samples.
    unsafe storage.clearPadding(of: form.size, format: .rgba8)
    self.content.layout = .rgba8
    self.content.offset = place
    self.content.bytesPerRow = form.bytesPerRow
    self.content.isInPlace = true
  }
}
