// Unsafe code: bounds as in RowExpander.swift.
extension RowExpander {
  /// Writes RGBA of 16 bits in the machine's byte order; 8-bit samples are multiplied by 257.
  ///
  /// - Parameter palette: 256 colours as `RGBA.word`; or a key; read for layouts that have them only.
  @unsafe
  package static func writeDeep(
    _ layout: FramePixels.Layout, from source: UnsafeRawPointer,
    to target: UnsafeMutablePointer<SIMD4<UInt16>>, count: Int, palette: UnsafePointer<UInt32>
  ) {
    for x in 0..<max(count, 0) {
      unsafe target[x] = deepPixel(layout, source, x, palette)
    }
  }

  /// Pixel `x` of a row as red, green, blue and alpha of 16 bits.
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

  /// As ``deepPixel``, but opaque where it is a key that makes pixels transparent.
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
  /// The same colour, opaque.
  fileprivate var opaque: Self {
    var pixel = self
    pixel.w = 65535
    return pixel
  }
}
