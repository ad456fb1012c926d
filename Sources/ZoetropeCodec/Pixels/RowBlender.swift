/// Functions that blend one row of a frame's samples over a row of a canvas, with straight alpha on both sides.
///
/// The results are exact: with alphas from 0 to 1, `a = sa + da(1 - sa)` and `c = (sc sa + dc da (1 - sa)) / a` are
/// computed as real numbers and rounded once, half up. A transparent source pixel changes nothing.
///
/// Unsafe code: rows are addressed by pointer. `source` has `count` pixels of the layout, and nothing past them is
/// read. `target` has `count` pixels. The two rows do not overlap.
package enum RowBlender {
  /// Blends onto 8-bit RGBA. 16-bit samples are first reduced to their high byte.
  ///
  /// - Parameter palette: For a layout with a palette, its 256 colours as `RGBA.word`. For a layout with a transparent
  ///   colour, that colour. Other layouts do not use this parameter.
  @unsafe
  package static func over(
    _ layout: FramePixels.Layout, from source: UnsafeRawPointer,
    to target: UnsafeMutablePointer<UInt32>, count: Int, palette: UnsafePointer<UInt32>
  ) {
    switch layout {
    case .grey8, .rgb8, .grey16, .rgb16:
      unsafe RowExpander.write(layout, from: source, to: target, count: count, palette: palette)
    case .rgba8: unsafe blend(source, target, count)
    case .indexed8: unsafe blendIndexed(source, target, count, palette)
    case .greyAlpha8, .greyAlpha16, .rgba16, .keyedRGB8, .keyedGrey16, .keyedRGB16:
      let size = layout.bytesPerPixel
      // Expand in pieces that stay in the first-level cache and fit on the stack.
      let piece = 256
      unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: piece) { scratch in
        guard let pixels = scratch.baseAddress else { return }
        for x in stride(from: 0, to: count, by: piece) {
          let part = min(piece, count - x)
          unsafe RowExpander.write(
            layout, from: source + x * size, to: pixels, count: part, palette: palette)
          unsafe blend(UnsafeRawPointer(pixels), target + x, part)
        }
      }
    }
  }

  private typealias Quad = SIMD4<UInt32>

  private typealias Quads = (Quad, Quad, Quad, Quad)

  /// Blends RGBA over RGBA: sixteen pixels at a time, then four at a time, then the rest.
  @unsafe
  private static func blend(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int
  ) {
    let address = UnsafeMutableRawPointer(target)
    var x = 0
    while x &+ 16 <= count {
      let over = unsafe (
        quad(source, x), quad(source, x &+ 4), quad(source, x &+ 8), quad(source, x &+ 12)
      )
      unsafe lay(over, address, x)
      x &+= 16
    }
    while x &+ 4 <= count {
      unsafe lay(quad(source, x), address, x)
      x &+= 4
    }
    unsafe layLast(count &- x, target + max(x, 0)) { rest in
      unsafe source.loadUnaligned(fromByteOffset: (x &+ rest) &* 4, as: UInt32.self)
    }
  }

  /// Blends palette colours of any alpha over RGBA: sixteen pixels at a time, then four at a time, then the rest.
  @unsafe
  private static func blendIndexed(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int,
    _ palette: UnsafePointer<UInt32>
  ) {
    let address = UnsafeMutableRawPointer(target)
    let indices = unsafe source.assumingMemoryBound(to: UInt8.self)
    @inline(__always) func color(_ x: Int) -> UInt32 { unsafe palette[Int(indices[x])] }
    @inline(__always) func colors(_ x: Int) -> Quad {
      Quad(color(x), color(x &+ 1), color(x &+ 2), color(x &+ 3))
    }
    var x = 0
    while x &+ 16 <= count {
      let start = x
      x &+= 16
      let group = unsafe IndexedBlitter.Group(indices + start)
      if group.isUniform {
        let alpha = color(start) >> 24
        if alpha == 0 { continue }
        if alpha == 255 {
          unsafe IndexedBlitter.splat(group, palette, target + start)
          continue
        }
      }
      let over = (colors(start), colors(start &+ 4), colors(start &+ 8), colors(start &+ 12))
      unsafe lay(over, address, start)
    }
    while x &+ 4 <= count {
      unsafe lay(colors(x), address, x)
      x &+= 4
    }
    unsafe layLast(count &- x, target + max(x, 0)) { color(x &+ $0) }
  }

  private static var opaque: Quad { Quad(repeating: 0xff00_0000) }

  /// Blends sixteen pixels over the canvas pixels from `x` on, in the cheapest way that is exact for all of them.
  @inline(__always) @unsafe
  private static func lay(_ over: Quads, _ address: UnsafeMutableRawPointer, _ x: Int) {
    if (over.0 | over.1 | over.2 | over.3) & opaque == .zero { return }
    if over.0 & over.1 & over.2 & over.3 & opaque == opaque {
      unsafe store(over, address, x)
      return
    }
    let under = unsafe (
      quad(address, x), quad(address, x &+ 4), quad(address, x &+ 8), quad(address, x &+ 12)
    )
    if under.0 & under.1 & under.2 & under.3 & opaque == opaque {
      unsafe store(
        (
          overOpaque(over.0, under.0), overOpaque(over.1, under.1),
          overOpaque(over.2, under.2), overOpaque(over.3, under.3)
        ), address, x)
    } else if (under.0 | under.1 | under.2 | under.3) & opaque == .zero
      || (partial(over.0) | partial(over.1) | partial(over.2) | partial(over.3)) == .zero
    {
      unsafe store(
        (
          replacing(under.0, with: over.0), replacing(under.1, with: over.1),
          replacing(under.2, with: over.2), replacing(under.3, with: over.3)
        ), address, x)
    } else if isRepeated(over), isRepeated(under) {
      // In flat areas this saves three of four divisions.
      let pixels = overAny(over.0, under.0)
      unsafe store((pixels, pixels, pixels, pixels), address, x)
    } else {
      unsafe store(
        (
          overAny(over.0, under.0), overAny(over.1, under.1), overAny(over.2, under.2),
          overAny(over.3, under.3)
        ), address, x)
    }
  }

  /// Returns whether the four groups of four pixels are equal.
  @inline(__always)
  private static func isRepeated(_ quads: Quads) -> Bool {
    (quads.0 ^ quads.1) | (quads.0 ^ quads.2) | (quads.0 ^ quads.3) == .zero
  }

  /// Blends four pixels over the canvas pixels from `x` on.
  @inline(__always) @unsafe
  private static func lay(_ over: Quad, _ address: UnsafeMutableRawPointer, _ x: Int) {
    if over & opaque == .zero { return }
    let under = unsafe quad(address, x)
    let pixels =
      if under & opaque == opaque {
        overOpaque(over, under)
      } else if under & opaque == .zero || partial(over) == .zero {
        replacing(under, with: over)
      } else {
        overAny(over, under)
      }
    unsafe address.storeBytes(of: pixels, toByteOffset: x &* 4, as: Quad.self)
  }

  /// Blends up to three pixels over those at `target`. They are blended as a group of four, which is filled up with
  /// transparent pixels.
  @inline(__always) @unsafe
  private static func layLast(
    _ count: Int, _ target: UnsafeMutablePointer<UInt32>, _ pixel: (Int) -> UInt32
  ) {
    guard count > 0 else { return }
    var (over, under) = (Quad.zero, Quad.zero)
    for x in 0..<count {
      over[x] = pixel(x)
      under[x] = unsafe target[x]
    }
    unsafe withUnsafeMutableBytes(of: &under) { under in
      guard let address = under.baseAddress else { return }
      unsafe lay(over, address, 0)
    }
    for x in 0..<count { unsafe target[x] = under[x] }
  }

  /// Returns a vector whose lanes are zero where the alpha of a pixel is 0 or 255.
  @inline(__always)
  private static func partial(_ pixels: Quad) -> Quad {
    (pixels &+ 0x0100_0000) & 0xfe00_0000
  }

  @inline(always) @unsafe
  private static func quad(_ pixels: UnsafeRawPointer, _ x: Int) -> Quad {
    unsafe pixels.loadUnaligned(fromByteOffset: x &* 4, as: Quad.self)
  }

  @inline(always) @unsafe
  private static func store(
    _ quads: (Quad, Quad, Quad, Quad), _ address: UnsafeMutableRawPointer, _ x: Int
  ) {
    unsafe address.storeBytes(of: quads.0, toByteOffset: x &* 4, as: Quad.self)
    unsafe address.storeBytes(of: quads.1, toByteOffset: x &* 4 &+ 16, as: Quad.self)
    unsafe address.storeBytes(of: quads.2, toByteOffset: x &* 4 &+ 32, as: Quad.self)
    unsafe address.storeBytes(of: quads.3, toByteOffset: x &* 4 &+ 48, as: Quad.self)
  }

  /// Returns four pixels blended over four others. Either all of the others are transparent, or each of the four pixels
  /// is opaque or transparent.
  @inline(always)
  private static func replacing(_ under: Quad, with over: Quad) -> Quad {
    over.replacing(with: under, where: over &>> 24 .== .zero)
  }

  /// Returns four pixels blended over opaque ones: (sc sa + dc (255 - sa)) / 255, rounded half up.
  ///
  /// Red and blue are in one vector of 16-bit lanes, and green and alpha in another, so that no sample has to move to
  /// another lane. The expression `(v + 128 + ((v + 128) >> 8)) >> 8` is v / 255 rounded half up for all v up to 255².
  @inline(always)
  private static func overOpaque(
    _ over: SIMD4<UInt32>, _ under: SIMD4<UInt32>
  ) -> SIMD4<UInt32> {
    let even = SIMD4<UInt32>(repeating: 0x00ff_00ff)
    let alpha = over &>> 24
    let cover = lanes(alpha | alpha &<< 16)
    let rest = SIMD8<UInt16>(repeating: 255) &- cover
    let redBlue = lanes(over & even) &* cover &+ lanes(under & even) &* rest
    let greenAlpha = lanes(over &>> 8 & even) &* cover &+ lanes(under &>> 8 & even) &* rest
    return words(divided(redBlue)) | words(divided(greenAlpha)) &<< 8 | 0xff00_0000
  }

  @inline(always)
  private static func divided(_ value: SIMD8<UInt16>) -> SIMD8<UInt16> {
    let sum = value &+ 128
    return (sum &+ sum &>> 8) &>> 8
  }

  @inline(always)
  private static func lanes(_ words: SIMD4<UInt32>) -> SIMD8<UInt16> {
    unsafe unsafeBitCast(words, to: SIMD8<UInt16>.self)
  }

  @inline(always)
  private static func words(_ lanes: SIMD8<UInt16>) -> SIMD4<UInt32> {
    unsafe unsafeBitCast(lanes, to: SIMD4<UInt32>.self)
  }

  /// Returns one pixel blended over another, both as `RGBA.word`.
  package static func blend(_ over: UInt32, _ under: UInt32) -> UInt32 {
    overAny(Quad(repeating: over), Quad(repeating: under)).x
  }

  /// Returns four pixels blended over four others of any alpha.
  ///
  /// In units of 1/255 the weight of the source is 255 sa and that of the canvas is da (255 - sa). The sum A of the
  /// weights is at most 65025, and the weighted colour N is at most 255 A. All of these are integers below 2^24, which
  /// `Float` represents exactly. Unless the fractional part of N / A is exactly a half, it differs from a half by at
  /// least 1/2A, which is more than the division's error. One division and one rounding therefore give the exact
  /// result. For the new alpha, the fractional part of A / 255 is never a half, so a multiplication is accurate enough.
  @inline(always)
  private static func overAny(_ over: Quad, _ under: Quad) -> Quad {
    let alpha = channel(over, 24)
    let overWeight = alpha * 255
    let underWeight = channel(under, 24) * (255 - alpha)
    let sum = overWeight + underWeight
    let red = (channel(over, 0) * overWeight + channel(under, 0) * underWeight) / sum
    let green = (channel(over, 8) * overWeight + channel(under, 8) * underWeight) / sum
    let blue = (channel(over, 16) * overWeight + channel(under, 16) * underWeight) / sum
    let pixels =
      rounded(red) | rounded(green) &<< 8 | rounded(blue) &<< 16 | rounded(sum * (1 / 255)) &<< 24
    // A transparent source leaves the canvas unchanged, even if the sum of weights is zero.
    return pixels.replacing(with: under, where: over &>> 24 .== .zero)
  }

  /// Returns one channel of four pixels.
  @inline(always)
  private static func channel(_ pixels: Quad, _ shift: UInt32) -> SIMD4<Float> {
    let bytes = pixels &>> shift & 0xff
    // Convert through Int32, because SSE2 cannot convert unsigned lanes.
    return unsafe SIMD4<Float>(unsafeBitCast(bytes, to: SIMD4<Int32>.self))
  }

  /// Rounds numbers from 0 to 255 to integers, half up.
  @inline(always)
  private static func rounded(_ value: SIMD4<Float>) -> Quad {
    let sum = value + 0.5
    // Adding 2^23 leaves the nearest integer in the low bits. Subtract one where the addition rounded up.
    let shifted = sum + 8_388_608
    let wentUp = shifted - 8_388_608 .> sum
    let nearest = unsafe unsafeBitCast(shifted, to: Quad.self)
    return (nearest &+ Quad.zero.replacing(with: UInt32.max, where: wentUp)) & 0xff
  }
}

extension RowBlender {
  /// Blends onto 16-bit RGBA in the machine's byte order, exactly. 8-bit samples are multiplied by 257.
  ///
  /// - Parameter palette: For a layout with a palette, its 256 colours as `RGBA.word`. For a layout with a transparent
  ///   colour, that colour. Other layouts do not use this parameter.
  @unsafe
  package static func overDeep(
    _ layout: FramePixels.Layout, from source: UnsafeRawPointer,
    to target: UnsafeMutablePointer<SIMD4<UInt16>>, count: Int, palette: UnsafePointer<UInt32>
  ) {
    for x in 0..<max(count, 0) {
      let over = unsafe RowExpander.deepPixel(layout, source, x, palette)
      unsafe target[x] = blendDeep(over, target[x])
    }
  }

  /// Blends one 16-bit pixel over another.
  ///
  /// The weights are computed as for 8 bits, but in units of 1/65535. The sum of the weights is below 2^32, and the
  /// product of this sum and a channel is below 2^48.
  package static func blendDeep(_ over: SIMD4<UInt16>, _ under: SIMD4<UInt16>) -> SIMD4<UInt16> {
    if over.w == 0 { return under }
    if over.w == 65535 || under.w == 0 { return over }
    let overWeight = UInt64(over.w) * 65535
    let underWeight = UInt64(under.w) * UInt64(65535 - over.w)
    let sum = overWeight + underWeight
    func mixed(_ above: UInt16, _ below: UInt16) -> UInt16 {
      let value = UInt64(above) * overWeight + UInt64(below) * underWeight
      return UInt16((2 * value + sum) / (2 * sum))
    }
    return SIMD4(
      mixed(over.x, under.x), mixed(over.y, under.y), mixed(over.z, under.z),
      UInt16((2 * sum + 65535) / (2 * 65535)))
  }
}
