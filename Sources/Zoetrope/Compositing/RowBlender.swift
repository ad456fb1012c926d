/// Lays one row of a frame's samples over a row of a canvas, with straight alpha on both sides.
///
/// Exact: with alphas from 0 to 1, `a = sa + da(1 - sa)` and `c = (sc sa + dc da (1 - sa)) / a` are
/// taken as real numbers and rounded once, half up. A transparent source pixel changes nothing.
///
/// Unsafe code: rows are addressed by pointer. `source` has `count` pixels of the layout and nothing
/// past them is read; `target` has `count` pixels; they do not overlap.
package enum RowBlender {
  /// Blends onto RGBA of 8 bits; 16-bit samples are cut to their high byte first.
  ///
  /// - Parameter palette: 256 colours as `RGBA.word`; read for ``FramePixels/Layout/indexed8`` only.
  @unsafe
  package static func over(
    _ layout: FramePixels.Layout, from source: UnsafeRawPointer,
    to target: UnsafeMutablePointer<UInt32>, count: Int, palette: UnsafePointer<UInt32>
  ) {
    let size: Int
    switch layout {
    case .grey8, .rgb8, .grey16, .rgb16:
      unsafe RowExpander.write(layout, from: source, to: target, count: count, palette: palette)
      return
    case .rgba8:
      unsafe blend(source, target, count)
      return
    case .indexed8: size = 1
    case .greyAlpha8: size = 2
    case .greyAlpha16: size = 4
    case .rgba16: size = 8
    }
    // Expanded in pieces that stay in the first-level cache.
    let piece = 512
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

  private typealias Quad = SIMD4<UInt32>

  /// RGBA over RGBA: sixteen pixels that are alike in their alphas at once, else four by four.
  @unsafe
  private static func blend(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int
  ) {
    let alphas = Quad(repeating: 0xff00_0000)
    var x = 0
    while x &+ 16 <= count {
      let over = unsafe (
        quad(source, x), quad(source, x &+ 4), quad(source, x &+ 8), quad(source, x &+ 12)
      )
      let address = UnsafeMutableRawPointer(target)
      let start = x
      x &+= 16
      if (over.0 | over.1 | over.2 | over.3) & alphas == .zero { continue }
      if over.0 & over.1 & over.2 & over.3 & alphas == alphas {
        unsafe store((over.0, over.1, over.2, over.3), address, start)
        continue
      }
      let under = unsafe (
        quad(address, start), quad(address, start &+ 4), quad(address, start &+ 8),
        quad(address, start &+ 12)
      )
      if under.0 & under.1 & under.2 & under.3 & alphas == alphas {
        unsafe store(
          (
            overOpaque(over.0, under.0), overOpaque(over.1, under.1),
            overOpaque(over.2, under.2), overOpaque(over.3, under.3)
          ), address, start)
      } else if (under.0 | under.1 | under.2 | under.3) & alphas == .zero {
        unsafe store(
          (
            overClear(over.0, under.0), overClear(over.1, under.1), overClear(over.2, under.2),
            overClear(over.3, under.3)
          ), address, start)
      } else {
        unsafe store(
          (
            overAny(over.0, under.0), overAny(over.1, under.1), overAny(over.2, under.2),
            overAny(over.3, under.3)
          ), address, start)
      }
    }
    while x < count {
      unsafe target[x] = blend(
        source.loadUnaligned(fromByteOffset: x &* 4, as: UInt32.self), target[x])
      x &+= 1
    }
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

  /// Four pixels over transparent ones.
  @inline(always)
  private static func overClear(_ over: Quad, _ under: Quad) -> Quad {
    over.replacing(with: under, where: over &>> 24 .== .zero)
  }

  /// Four pixels over opaque ones: (sc sa + dc (255 - sa)) / 255, rounded half up.
  ///
  /// Red and blue lie in one vector of 16-bit lanes, green and alpha in another, so no lane has to
  /// move. `(v + 128 + ((v + 128) >> 8)) >> 8` is v / 255 rounded half up for all v to 255 · 255.
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

  /// One pixel over another, both as `RGBA.word`.
  package static func blend(_ over: UInt32, _ under: UInt32) -> UInt32 {
    overAny(Quad(repeating: over), Quad(repeating: under)).x
  }

  /// Four pixels over any others.
  ///
  /// In units of 1/255 the weight of the source is 255 sa, that of the canvas da (255 - sa), their
  /// sum A at most 65025 and the weighted colour N at most 255 A: whole numbers below 2^24, which
  /// `Float` holds exactly. N / A is 1 / 2A or more away from a half it does not equal, more than the
  /// division can be wrong by, so one division and one rounding give the exact result. For the new
  /// alpha, A / 255 is never a half, so a multiplication is near enough.
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
    // A transparent source leaves what is there, also where the sum is zero.
    return pixels.replacing(with: under, where: over &>> 24 .== .zero)
  }

  /// One channel of four pixels.
  @inline(always)
  private static func channel(_ pixels: Quad, _ shift: UInt32) -> SIMD4<Float> {
    let bytes = pixels &>> shift & 0xff
    // Through Int32: SSE2 converts no unsigned lanes.
    return unsafe SIMD4<Float>(unsafeBitCast(bytes, to: SIMD4<Int32>.self))
  }

  /// Numbers of 0 to 255 as whole ones, halves up.
  @inline(always)
  private static func rounded(_ value: SIMD4<Float>) -> Quad {
    let sum = value + 0.5
    // Adding 2^23 leaves the nearest whole number in the low bits; one less where that went up.
    let shifted = sum + 8_388_608
    let wentUp = shifted - 8_388_608 .> sum
    let nearest = unsafe unsafeBitCast(shifted, to: Quad.self)
    return (nearest &+ Quad.zero.replacing(with: UInt32.max, where: wentUp)) & 0xff
  }
}
