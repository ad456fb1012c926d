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

  /// RGBA over RGBA: sixteen pixels that are alike in their alphas at once, else one by one.
  @unsafe
  private static func blend(
    _ source: UnsafeRawPointer, _ target: UnsafeMutablePointer<UInt32>, _ count: Int
  ) {
    typealias Block = SIMD16<UInt32>
    let alphas = SIMD4<UInt32>(repeating: 0xff00_0000)
    var x = 0
    while x &+ 16 <= count {
      let over = unsafe source.loadUnaligned(fromByteOffset: x &* 4, as: Block.self)
      let address = unsafe UnsafeMutableRawPointer(target + x)
      x &+= 16
      let some = over.lowHalf | over.highHalf
      if (some.lowHalf | some.highHalf) & alphas == .zero { continue }
      let all = over.lowHalf & over.highHalf
      if all.lowHalf & all.highHalf & alphas == alphas {
        unsafe address.storeBytes(of: over, as: Block.self)
        continue
      }
      let under = unsafe address.loadUnaligned(as: Block.self)
      let opaque = under.lowHalf & under.highHalf
      if opaque.lowHalf & opaque.highHalf & alphas == alphas {
        let result = Block(
          lowHalf: SIMD8(
            lowHalf: overOpaque(over.lowHalf.lowHalf, under.lowHalf.lowHalf),
            highHalf: overOpaque(over.lowHalf.highHalf, under.lowHalf.highHalf)),
          highHalf: SIMD8(
            lowHalf: overOpaque(over.highHalf.lowHalf, under.highHalf.lowHalf),
            highHalf: overOpaque(over.highHalf.highHalf, under.highHalf.highHalf)))
        unsafe address.storeBytes(of: result, as: Block.self)
        continue
      }
      let visible = under.lowHalf | under.highHalf
      if (visible.lowHalf | visible.highHalf) & alphas == .zero {
        let result = over.replacing(with: under, where: over .< 0x0100_0000)
        unsafe address.storeBytes(of: result, as: Block.self)
        continue
      }
      for lane in x &- 16..<x {
        unsafe target[lane] = blend(
          source.loadUnaligned(fromByteOffset: lane &* 4, as: UInt32.self), target[lane])
      }
    }
    while x < count {
      unsafe target[x] = blend(
        source.loadUnaligned(fromByteOffset: x &* 4, as: UInt32.self), target[x])
      x &+= 1
    }
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
  ///
  /// In units of 1/255 the weight of the source is 255 sa, that of the canvas da (255 - sa), their
  /// sum A at most 65025 and the weighted colour N at most 255 A: whole numbers below 2^24, which
  /// `Float` holds exactly. N / A is 1 / 2A or more away from a half it does not equal, more than the
  /// division can be wrong by, so one division and one rounding give the exact result.
  @inline(always)
  package static func blend(_ over: UInt32, _ under: UInt32) -> UInt32 {
    let alpha = over >> 24
    if alpha == 0 { return under }
    if alpha == 255 || under >> 24 == 0 { return over }
    let overWeight = Float(alpha &* 255)
    let underWeight = Float((under >> 24) &* (255 &- alpha))
    let sum = overWeight + underWeight
    // The fourth lane makes the new alpha: A / 255.
    var numerator = channels(over) * overWeight + channels(under) * underWeight
    numerator.w = sum
    let quotient = numerator / SIMD4(sum, sum, sum, 255) + 0.5
    // Adding 2^23 leaves the nearest whole number in the low bits; one less where that went up.
    let shifted = quotient + 8_388_608
    let wentUp = (shifted - 8_388_608) .> quotient
    let nearest = unsafe unsafeBitCast(shifted, to: SIMD4<UInt32>.self)
    let whole = nearest.replacing(with: nearest &- 1, where: wentUp)
    return unsafe unsafeBitCast(SIMD4<UInt8>(truncatingIfNeeded: whole), to: UInt32.self)
  }

  @inline(always)
  private static func channels(_ pixel: UInt32) -> SIMD4<Float> {
    let bytes = unsafe unsafeBitCast(pixel, to: SIMD4<UInt8>.self)
    // Through Int32: SSE2 converts no unsigned lanes.
    return SIMD4<Float>(SIMD4<Int32>(truncatingIfNeeded: bytes))
  }
}
