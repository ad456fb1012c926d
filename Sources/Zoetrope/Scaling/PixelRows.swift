/// Rows of pixels from and to straight RGBA of 8 bits.
///
/// Bounds: both rows hold `count` pixels of their format; they do not overlap.
enum PixelRows {
  /// Makes `count` pixels of `format` from RGBA.
  static func encode(
    _ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ format: PixelFormat,
    count: Int
  ) {
    let pixels = unsafe source.assumingMemoryBound(to: RGBA.self)
    switch format.kind {
    case .rgba8: unsafe target.copyMemory(from: source, byteCount: count * 4)
    case .bgra8: unsafe swapRedAndBlue(source, target, count)
    case .rgba8Premultiplied:
      unsafe map(pixels, target, count, PixelConversion.premultiply)
    case .rgbx8: unsafe map(pixels, target, count, PixelConversion.flatten)
    case .rgb565:
      unsafe map(pixels, target, count) {
        PixelConversion.pack565(PixelConversion.flatten($0))
      }
    case .grey8:
      unsafe map(pixels, target, count) { PixelConversion.luma(PixelConversion.flatten($0)) }
    case .rgba16:
      unsafe map(pixels, target, count) {
        SIMD4<UInt16>(
          PixelConversion.widen($0.red), PixelConversion.widen($0.green),
          PixelConversion.widen($0.blue), PixelConversion.widen($0.alpha))
      }
    }
  }

  /// Makes `count` RGBA pixels from pixels of `format`.
  static func decode(
    _ source: UnsafeRawPointer, _ format: PixelFormat, to target: UnsafeMutableRawPointer,
    count: Int
  ) {
    let pixels = unsafe source.assumingMemoryBound(to: RGBA.self)
    switch format.kind {
    case .rgba8: unsafe target.copyMemory(from: source, byteCount: count * 4)
    case .bgra8: unsafe swapRedAndBlue(source, target, count)
    case .rgba8Premultiplied:
      unsafe map(pixels, target, count, PixelConversion.unpremultiply)
    case .rgbx8:
      unsafe map(pixels, target, count) {
        RGBA(red: $0.red, green: $0.green, blue: $0.blue)
      }
    case .rgb565:
      unsafe map(
        source.assumingMemoryBound(to: UInt16.self), target, count, PixelConversion.unpack565)
    case .grey8:
      unsafe map(source.assumingMemoryBound(to: UInt8.self), target, count) {
        RGBA(red: $0, green: $0, blue: $0)
      }
    case .rgba16:
      unsafe map(source.assumingMemoryBound(to: SIMD4<UInt16>.self), target, count) {
        RGBA(
          red: PixelConversion.narrow($0[0]), green: PixelConversion.narrow($0[1]),
          blue: PixelConversion.narrow($0[2]), alpha: PixelConversion.narrow($0[3]))
      }
    }
  }

  @inline(__always)
  private static func map<In: BitwiseCopyable, Out: BitwiseCopyable>(
    _ source: UnsafePointer<In>, _ target: UnsafeMutableRawPointer, _ count: Int,
    _ transform: (In) -> Out
  ) {
    let out = unsafe target.assumingMemoryBound(to: Out.self)
    for index in 0..<count { unsafe out[index] = transform(source[index]) }
  }

  /// Swaps bytes 0 and 2 of each pixel.
  private static func swapRedAndBlue(
    _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ count: Int
  ) {
    let words = unsafe source.assumingMemoryBound(to: UInt32.self)
    let out = unsafe target.assumingMemoryBound(to: UInt32.self)
    for index in 0..<count {
      let word = unsafe UInt32(littleEndian: words[index])
      let swapped = word & 0xFF00_FF00 | (word & 0xFF) << 16 | word >> 16 & 0xFF
      unsafe out[index] = swapped.littleEndian
    }
  }
}
